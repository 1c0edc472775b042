"""What Karpenter 1.14's controller may do, policy by policy.

The content is that of the project's getting-started template at v1.14, statement by
statement; the names of the policies are the template's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from seeds.account import Account

Statement = dict[str, Any]
LAUNCH = ["ec2:RunInstances", "ec2:CreateFleet"]
TAGGED_KINDS = [
    "fleet",
    "instance",
    "volume",
    "network-interface",
    "launch-template",
    "spot-instances-request",
]
READ_ACTIONS = [
    "ec2:DescribeCapacityReservations",
    "ec2:DescribeImages",
    "ec2:DescribeInstances",
    "ec2:DescribeInstanceStatus",
    "ec2:DescribeInstanceTypeOfferings",
    "ec2:DescribeInstanceTypes",
    "ec2:DescribeLaunchTemplates",
    "ec2:DescribePlacementGroups",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSpotPriceHistory",
    "ec2:DescribeSubnets",
]


@dataclass(frozen=True)
class Controller:
    account: Account
    node_role: str
    """ARN."""
    queue: str
    """ARN."""

    def policies(self) -> dict[str, list[Statement]]:
        """Statements by the template's name for the policy, without the cluster's name."""
        return {
            "KarpenterControllerNodeLifecyclePolicy": self._node_lifecycle(),
            "KarpenterControllerIAMIntegrationPolicy": self._instance_profiles(),
            "KarpenterControllerEKSIntegrationPolicy": self._cluster(),
            "KarpenterControllerInterruptionPolicy": self._interruption(),
            "KarpenterControllerZonalShiftPolicy": self._zonal_shift(),
            "KarpenterControllerResourceDiscoveryPolicy": self._discovery(),
        }

    def all_statements(self) -> list[Statement]:
        return [statement for group in self.policies().values() for statement in group]

    # What conditions compare with

    @property
    def _owned(self) -> str:
        return f"kubernetes.io/cluster/{self.account.cluster}"

    def _ec2(self, kind: str, account: str = "*") -> str:
        return f"arn:{self.account.partition}:ec2:{self.account.region}:{account}:{kind}/*"

    @property
    def _profiles(self) -> str:
        return self.account.arn("iam", "instance-profile/*", region="")

    @property
    def _cluster_arn(self) -> str:
        return self.account.arn("eks", f"cluster/{self.account.cluster}")

    def _on_creation(self) -> dict[str, dict[str, Any]]:
        return {
            "StringEquals": {
                f"aws:RequestTag/{self._owned}": "owned",
                "aws:RequestTag/eks:eks-cluster-name": self.account.cluster,
            },
            "StringLike": {"aws:RequestTag/karpenter.sh/nodepool": "*"},
        }

    def _on_own_resources(self) -> dict[str, dict[str, Any]]:
        return {
            "StringEquals": {f"aws:ResourceTag/{self._owned}": "owned"},
            "StringLike": {"aws:ResourceTag/karpenter.sh/nodepool": "*"},
        }

    def _profile_tags(self, *keys: str) -> dict[str, str]:
        """``keys`` are condition keys without the tag: RequestTag, ResourceTag."""
        values = {}
        for key in keys:
            values[f"aws:{key}/{self._owned}"] = "owned"
            values[f"aws:{key}/topology.kubernetes.io/region"] = self.account.region
        if "RequestTag" in keys:
            values["aws:RequestTag/eks:eks-cluster-name"] = self.account.cluster
        return values

    @staticmethod
    def _of_any_node_class(*keys: str) -> dict[str, str]:
        return {f"aws:{key}/karpenter.k8s.aws/ec2nodeclass": "*" for key in keys}

    # The policies

    def _node_lifecycle(self) -> list[Statement]:
        tagged = [self._ec2(kind) for kind in TAGGED_KINDS]
        creation_tagging = self._on_creation()
        creation_tagging["StringEquals"]["ec2:CreateAction"] = [
            "RunInstances",
            "CreateFleet",
            "CreateLaunchTemplate",
        ]
        tagging = self._on_own_resources()
        tagging["StringEqualsIfExists"] = {
            "aws:RequestTag/eks:eks-cluster-name": self.account.cluster
        }
        tagging["ForAllValues:StringEquals"] = {
            "aws:TagKeys": ["eks:eks-cluster-name", "karpenter.sh/nodeclaim", "Name"]
        }
        return [
            allow(
                "AllowScopedEC2InstanceAccessActions",
                LAUNCH,
                [
                    self._ec2("image", account=""),
                    self._ec2("snapshot", account=""),
                    *(
                        self._ec2(kind)
                        for kind in (
                            "security-group",
                            "subnet",
                            "capacity-reservation",
                            "placement-group",
                        )
                    ),
                ],
            ),
            allow(
                "AllowScopedEC2LaunchTemplateAccessActions",
                LAUNCH,
                self._ec2("launch-template"),
                self._on_own_resources(),
            ),
            allow(
                "AllowScopedEC2InstanceActionsWithTags",
                [*LAUNCH, "ec2:CreateLaunchTemplate"],
                tagged,
                self._on_creation(),
            ),
            allow("AllowScopedResourceCreationTagging", "ec2:CreateTags", tagged, creation_tagging),
            allow("AllowScopedResourceTagging", "ec2:CreateTags", self._ec2("instance"), tagging),
            allow(
                "AllowScopedDeletion",
                ["ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"],
                [self._ec2("instance"), self._ec2("launch-template")],
                self._on_own_resources(),
            ),
        ]

    def _instance_profiles(self) -> list[Statement]:
        both = ("RequestTag", "ResourceTag")
        return [
            allow(
                "AllowPassingInstanceRole",
                "iam:PassRole",
                self.node_role,
                {
                    "StringEquals": {
                        "iam:PassedToService": ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"]
                    }
                },
            ),
            allow(
                "AllowScopedInstanceProfileCreationActions",
                "iam:CreateInstanceProfile",
                self._profiles,
                {
                    "StringEquals": self._profile_tags("RequestTag"),
                    "StringLike": self._of_any_node_class("RequestTag"),
                },
            ),
            allow(
                "AllowScopedInstanceProfileTagActions",
                "iam:TagInstanceProfile",
                self._profiles,
                {
                    "StringEquals": self._profile_tags(*both),
                    "StringLike": self._of_any_node_class(*both),
                },
            ),
            allow(
                "AllowScopedInstanceProfileActions",
                [
                    "iam:AddRoleToInstanceProfile",
                    "iam:RemoveRoleFromInstanceProfile",
                    "iam:DeleteInstanceProfile",
                ],
                self._profiles,
                {
                    "StringEquals": self._profile_tags("ResourceTag"),
                    "StringLike": self._of_any_node_class("ResourceTag"),
                },
            ),
        ]

    def _cluster(self) -> list[Statement]:
        return [allow("AllowAPIServerEndpointDiscovery", "eks:DescribeCluster", self._cluster_arn)]

    def _interruption(self) -> list[Statement]:
        actions = ["sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"]
        return [allow("AllowInterruptionQueueActions", actions, self.queue)]

    def _zonal_shift(self) -> list[Statement]:
        condition = {"StringEquals": {"arc-zonal-shift:ResourceIdentifier": self._cluster_arn}}
        action = "arc-zonal-shift:GetManagedResource"
        return [allow("AllowZonalShiftStatusReadOnly", action, "*", condition)]

    def _discovery(self) -> list[Statement]:
        in_region = {"StringEquals": {"aws:RequestedRegion": self.account.region}}
        place = f"arn:{self.account.partition}:ssm:{self.account.region}"
        return [
            allow("AllowRegionalReadActions", READ_ACTIONS, "*", in_region),
            allow("AllowSSMReadActions", "ssm:GetParameter", f"{place}::parameter/aws/service/*"),
            allow("AllowPricingReadActions", "pricing:GetProducts", "*"),
            allow("AllowUnscopedInstanceProfileListAction", "iam:ListInstanceProfiles", "*"),
            allow("AllowInstanceProfileReadActions", "iam:GetInstanceProfile", self._profiles),
        ]


def allow(
    sid: str,
    action: str | list[str],
    resource: str | list[str],
    condition: dict[str, Any] | None = None,
) -> Statement:
    statement: Statement = {
        "Sid": sid,
        "Effect": "Allow",
        "Resource": resource,
        "Action": action,
    }
    if condition:
        statement["Condition"] = condition
    return statement
