//! What Karpenter *version X* and EKS Auto Mode ask of an account, read from `policies/`.

pub mod version;
