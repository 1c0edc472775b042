"""EKS over HTTP: moto's operations completed, and the ones that it lacks."""

from __future__ import annotations

from typing import Any

from moto.core.responses import ActionResult, EmptyResult
from moto.eks.models import Cluster
from moto.eks.responses import EKSResponse

from preflight_emulator.eks import access_entries, addons, network, nodes, pod_identity, updates
from preflight_emulator.eks.clusters import complete_cluster
from preflight_emulator.eks.paging import page
from preflight_emulator.eks.state import find_cluster, state_of
from preflight_emulator.identity import caller_principal


class CompleteEksResponse(EKSResponse):
    def __init__(self) -> None:
        super().__init__()
        # Parse by the service model, so that every member arrives under its own name.
        self.automated_parameter_parsing = True

    def get_region_from_url(self, request: Any, full_url: str) -> str:
        """By the signature alone: the ARN of a service's role in a path looks like a host."""
        return super().get_region_from_url(request, "")

    def _cluster(self) -> Cluster:
        return find_cluster(self.eks_backend, self._get_param("name"))

    def _page(self, result_key: str, items: list[Any]) -> ActionResult:
        items, token = page(items, self._get_int_param("maxResults"), self._get_param("nextToken"))
        return ActionResult({result_key: items, "nextToken": token})

    # Clusters

    def create_cluster(self) -> ActionResult:
        result = super().create_cluster().result
        assert isinstance(result, dict)
        cluster = result["cluster"]
        creator = caller_principal(self.current_account, self.region, self.access_key)
        try:
            complete_cluster(self.eks_backend, cluster, self.params, creator)
        except Exception:
            self.eks_backend.delete_cluster(cluster.name)
            raise
        return ActionResult({"cluster": cluster})

    def describe_cluster(self) -> ActionResult:
        return ActionResult({"cluster": self._cluster()})

    def list_clusters(self) -> ActionResult:
        return self._page("clusters", sorted(self.eks_backend.clusters))

    def update_cluster_config(self) -> ActionResult:
        update = updates.update_config(self.eks_backend, self._cluster(), self.params)
        return ActionResult({"update": update})

    def update_cluster_version(self) -> ActionResult:
        update = updates.update_version(self._cluster(), self._get_param("version"))
        return ActionResult({"update": update})

    def describe_update(self) -> ActionResult:
        update = updates.find_update(self._cluster(), self._get_param("updateId"))
        return ActionResult({"update": update})

    def list_updates(self) -> ActionResult:
        return self._page("updateIds", list(state_of(self._cluster()).updates))

    def delete_cluster(self) -> ActionResult:
        result = super().delete_cluster()
        assert isinstance(result.result, dict)
        network.delete_network(self.eks_backend, result.result["cluster"])
        return result

    # Node groups and Fargate profiles

    def create_nodegroup(self) -> ActionResult:
        cluster = self._cluster()
        result = super().create_nodegroup()
        assert isinstance(result.result, dict)
        nodes.complete_nodegroup(self.eks_backend, cluster, result.result["nodegroup"], self.params)
        return result

    def list_nodegroups(self) -> ActionResult:
        return self._page("nodegroups", sorted(self._cluster().nodegroups))

    def create_fargate_profile(self) -> ActionResult:
        cluster = self._cluster()
        result = super().create_fargate_profile()
        nodes.admit(
            self.eks_backend, cluster, self._get_param("podExecutionRoleArn"), "FARGATE_LINUX"
        )
        return result

    def list_fargate_profiles(self) -> ActionResult:
        return self._page("fargateProfileNames", sorted(self._cluster().fargate_profiles))

    # Access entries

    def create_access_entry(self) -> ActionResult:
        entry = access_entries.create_entry(
            self.eks_backend,
            self._cluster(),
            self._get_param("principalArn"),
            self._get_param("type"),
            self._get_param("kubernetesGroups"),
            self._get_param("username"),
            self._get_param("tags"),
        )
        return ActionResult({"accessEntry": entry.record})

    def describe_access_entry(self) -> ActionResult:
        return ActionResult({"accessEntry": self._entry().record})

    def update_access_entry(self) -> ActionResult:
        entry = self._entry()
        access_entries.update_entry(
            entry, self._get_param("kubernetesGroups"), self._get_param("username")
        )
        return ActionResult({"accessEntry": entry.record})

    def delete_access_entry(self) -> ActionResult:
        principal = self._entry().record["principalArn"]
        del state_of(self._cluster()).access_entries[principal]
        return EmptyResult()

    def list_access_entries(self) -> ActionResult:
        cluster = self._cluster()
        access_entries.require_entries(cluster)
        policy = self._get_param("associatedPolicyArn")
        principals = [
            principal
            for principal, entry in state_of(cluster).access_entries.items()
            if policy is None or policy in entry.policies
        ]
        return self._page("accessEntries", principals)

    def associate_access_policy(self) -> ActionResult:
        entry = self._entry()
        association = access_entries.associate_policy(
            entry, self._get_param("policyArn"), self._get_param("accessScope")
        )
        return ActionResult(
            {
                "clusterName": entry.record["clusterName"],
                "principalArn": entry.record["principalArn"],
                "associatedAccessPolicy": association,
            }
        )

    def disassociate_access_policy(self) -> ActionResult:
        access_entries.disassociate_policy(self._entry(), self._get_param("policyArn"))
        return EmptyResult()

    def list_associated_access_policies(self) -> ActionResult:
        entry = self._entry()
        items, token = page(
            list(entry.policies.values()),
            self._get_int_param("maxResults"),
            self._get_param("nextToken"),
        )
        return ActionResult(
            {
                "clusterName": entry.record["clusterName"],
                "principalArn": entry.record["principalArn"],
                "associatedAccessPolicies": items,
                "nextToken": token,
            }
        )

    def _entry(self) -> access_entries.AccessEntry:
        return access_entries.find_entry(self._cluster(), self._get_param("principalArn"))

    # Pod identity associations

    def create_pod_identity_association(self) -> ActionResult:
        association = pod_identity.create_association(
            self.eks_backend, self._cluster(), self.params
        )
        return ActionResult({"association": association})

    def describe_pod_identity_association(self) -> ActionResult:
        association = pod_identity.find_association(
            self._cluster(), self._get_param("associationId")
        )
        return ActionResult({"association": association})

    def list_pod_identity_associations(self) -> ActionResult:
        found = pod_identity.list_associations(
            self._cluster(), self._get_param("namespace"), self._get_param("serviceAccount")
        )
        return self._page("associations", found)

    def update_pod_identity_association(self) -> ActionResult:
        association = pod_identity.update_association(
            self.eks_backend, self._cluster(), self._get_param("associationId"), self.params
        )
        return ActionResult({"association": association})

    def delete_pod_identity_association(self) -> ActionResult:
        association = pod_identity.delete_association(
            self._cluster(), self._get_param("associationId")
        )
        return ActionResult({"association": association})

    # Add-ons

    def create_addon(self) -> ActionResult:
        addon = addons.create_addon(self.eks_backend, self._cluster(), self.params)
        return ActionResult({"addon": addon})

    def describe_addon(self) -> ActionResult:
        addon = addons.find_addon(self._cluster(), self._get_param("addonName"))
        return ActionResult({"addon": addon})

    def list_addons(self) -> ActionResult:
        return self._page("addons", sorted(state_of(self._cluster()).addons))

    def update_addon(self) -> ActionResult:
        addon = addons.update_addon(self._cluster(), self._get_param("addonName"), self.params)
        values = {"addonVersion": addon["addonVersion"]}
        update = updates.record_update(self._cluster(), "AddonUpdate", values)
        return ActionResult({"update": update})

    def delete_addon(self) -> ActionResult:
        addon = addons.delete_addon(self._cluster(), self._get_param("addonName"))
        return ActionResult({"addon": addon})
