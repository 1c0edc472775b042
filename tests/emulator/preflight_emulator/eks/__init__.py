"""EKS: whole clusters, access entries, pod identity associations and add-ons."""
