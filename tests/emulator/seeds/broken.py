"""One account with the mistakes that people write about, for ``make demo``.

The cluster has both products: Karpenter as the guide installs it, and Auto Mode. What is wrong:

- the cluster role does not let EKS tag sessions (Auto Mode: InstanceProfileCreationFailed);
- the region's IMDS defaults put tags into the metadata and switch the endpoint off;
- nobody made the interruption queue, nor its rules;
- the node role has no access entry, and the cluster looks at nothing else (mode API);
- one private subnet has next to no free addresses;
- the account never used Spot, so its service-linked role is missing.
"""

from __future__ import annotations

from typing import Any

from seeds import auto_mode, getting_started, roles
from seeds.account import Account

FREE_ADDRESSES = 3
ADDRESSES_AN_INTERFACE = 50
# The first is small: it is the one that runs full.
PRIVATE_RANGES = ("192.168.96.0/24", "192.168.128.0/19", "192.168.160.0/19")


def seed(account: Account) -> dict[str, Any]:
    auto_mode.create_cluster_role(account, roles.ASSUME)
    node_role = auto_mode.create_node_role(account)
    choices = getting_started.Choices(
        authentication_mode="API",
        cluster_role=auto_mode.CLUSTER_ROLE,
        cluster=tuple(auto_mode.switched_on(node_role).items()),
        private_ranges=PRIVATE_RANGES,
        node_role_entry=False,
        interruption=False,
        spot_role=False,
    )
    made = getting_started.seed(account, choices)
    account.client("ec2").modify_instance_metadata_defaults(
        InstanceMetadataTags="enabled", HttpEndpoint="disabled"
    )
    subnet = made["privateSubnets"][0]
    fill_subnet(account, subnet)
    return {**made, "autoNodeRole": node_role, "fullSubnet": subnet}


def fill_subnet(account: Account, subnet: str) -> None:
    """Leave only a few free addresses, as a busy cluster's pods would."""
    ec2 = account.client("ec2")
    while (to_take := free_addresses(account, subnet) - FREE_ADDRESSES) > 0:
        take = min(to_take, ADDRESSES_AN_INTERFACE)
        more = {"SecondaryPrivateIpAddressCount": take - 1} if take > 1 else {}
        ec2.create_network_interface(SubnetId=subnet, Description="pods of another team", **more)


def free_addresses(account: Account, subnet: str) -> int:
    answer = account.client("ec2").describe_subnets(SubnetIds=[subnet])
    return answer["Subnets"][0]["AvailableIpAddressCount"]
