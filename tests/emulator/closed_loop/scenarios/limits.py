"""What the account may use: keys, quotas, AMIs, and the switches of EKS Auto Mode."""

from __future__ import annotations

import ipaddress

from closed_loop import edits
from closed_loop.scenario import FAIL, WARN, Made, scenario
from seeds import faults, organization, simulation
from seeds.account import Account

KEYS, VCPU, SPOT, ALLOWED = "volume-keys", "vcpu-quota", "spot-quota", "allowed-images"
ADDONS, SETTINGS = "auto-mode-addons", "auto-mode-settings"
PREFIXES = "subnet-prefixes"
TEMPLATES, TENANCY = "launch-template-quota", "vpc-tenancy"
ON_DEMAND, SPOT_STANDARD = "L-1216C47A", "L-34B43A08"


def quota(account: Account, code: str, value: int) -> None:
    faults.admin(account, "quota", {"quotaCode": code, "value": value})


def use_vcpus(account: Account, kind: str = "m5.large") -> None:
    """One instance, of two vCPUs."""
    _, subnets = faults.find_network(account)
    ec2 = account.client("ec2")
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    ec2.run_instances(ImageId=image, InstanceType=kind, MinCount=1, MaxCount=1, SubnetId=subnets[0])


@scenario(f"{VCPU}: used up", (VCPU, FAIL))
def no_vcpus(account: Account, _made: Made) -> None:
    use_vcpus(account)
    quota(account, ON_DEMAND, 2)


@scenario(f"{VCPU}: nearly used up", (VCPU, WARN))
def few_vcpus(account: Account, _made: Made) -> None:
    use_vcpus(account)
    quota(account, ON_DEMAND, 5)


@scenario(f"{SPOT}: none for Spot", (SPOT, WARN))
def no_spot(account: Account, _made: Made) -> None:
    quota(account, SPOT_STANDARD, 1)


@scenario("instance-profile-quota: nearly used up", ("instance-profile-quota", WARN))
def few_profiles(account: Account, _made: Made) -> None:
    fill_with_profiles(account, used=18, most=20)


@scenario("instance-profile-quota: used up", ("instance-profile-quota", FAIL))
def no_profiles(account: Account, _made: Made) -> None:
    fill_with_profiles(account, used=20, most=20)


def fill_with_profiles(account: Account, used: int, most: int) -> None:
    iam = account.client("iam")
    there = len(iam.list_instance_profiles()["InstanceProfiles"])
    for number in range(used - there):
        iam.create_instance_profile(InstanceProfileName=f"left-behind-{number}")
    faults.admin(account, "instance-profile-quota", {"value": most})


@scenario(f"{TEMPLATES}: nearly used up", (TEMPLATES, WARN))
def few_templates(account: Account, _made: Made) -> None:
    fill_with_templates(account, used=9, most=10)


@scenario(f"{TEMPLATES}: used up", (TEMPLATES, FAIL))
def no_templates(account: Account, _made: Made) -> None:
    fill_with_templates(account, used=10, most=10)


def fill_with_templates(account: Account, used: int, most: int) -> None:
    ec2 = account.client("ec2")
    there = len(ec2.describe_launch_templates(MaxResults=200)["LaunchTemplates"])
    for number in range(used - there):
        ec2.create_launch_template(
            LaunchTemplateName=f"karpenter.k8s.aws/{number}",
            LaunchTemplateData={"InstanceType": "m5.large"},
        )
    quota(account, "L-FB451C26", most)


@scenario(f"{TENANCY}: dedicated", (TENANCY, WARN))
def dedicated_hardware(account: Account, _made: Made) -> None:
    vpc, _ = faults.find_network(account)
    faults.admin(account, "vpc-tenancy", {"vpcId": vpc, "tenancy": "dedicated"})


# Addresses for prefixes


@scenario(f"{PREFIXES}: none whole", (PREFIXES, FAIL))
def strewn_addresses(account: Account, made: Made) -> None:
    """An address of something in each block of 16 of one subnet."""
    eks = account.client("eks")
    eks.delete_addon(clusterName=account.cluster, addonName="vpc-cni")
    eks.create_addon(
        clusterName=account.cluster,
        addonName="vpc-cni",
        configurationValues='{"env": {"ENABLE_PREFIX_DELEGATION": "true"}}',
    )
    ec2 = account.client("ec2")
    subnet = made["privateSubnets"][0]
    block = ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["CidrBlock"]
    first = ipaddress.ip_network(block)
    for start in range(16, first.num_addresses, 16):
        ec2.create_network_interface(SubnetId=subnet, PrivateIpAddress=str(first[start]))


# Keys of volumes


@scenario(f"{KEYS}: the policy lets nobody use it through EC2", (KEYS, FAIL))
def key_of_another_team(account: Account, _made: Made) -> None:
    key = faults.create_key(account, "volumes")
    account.client("ec2").modify_ebs_default_kms_key_id(KmsKeyId=key)


@scenario(f"{KEYS}: it is disabled", (KEYS, FAIL))
def key_that_is_off(account: Account, made: Made) -> None:
    key_of_another_team(account, made)
    key = edits.name_of(account.client("ec2").get_ebs_default_kms_key_id()["KmsKeyId"])
    account.client("kms").disable_key(KeyId=key)


@scenario(f"{KEYS}: its deletion is under way", (KEYS, FAIL))
def key_that_goes(account: Account, made: Made) -> None:
    key_of_another_team(account, made)
    key = edits.name_of(account.client("ec2").get_ebs_default_kms_key_id()["KmsKeyId"])
    account.client("kms").schedule_key_deletion(KeyId=key)


# AMIs


@scenario(f"{ALLOWED}: one's own only", (ALLOWED, FAIL))
def own_images_only(account: Account, _made: Made) -> None:
    ec2 = account.client("ec2")
    ec2.enable_allowed_images_settings(AllowedImagesSettingsState="enabled")
    ec2.replace_image_criteria_in_allowed_images_settings(
        ImageCriteria=[{"ImageProviders": [account.number]}]
    )


@scenario(f"{ALLOWED}: one's own only, with Auto Mode", (ALLOWED, WARN), base="auto-mode")
def own_images_only_with_auto_mode(account: Account, made: Made) -> None:
    own_images_only(account, made)


# EKS Auto Mode


@scenario(f"{ADDONS}: too old", (ADDONS, WARN), base="auto-mode")
def addon_of_before(account: Account, _made: Made) -> None:
    account.client("eks").create_addon(
        clusterName=account.cluster, addonName="vpc-cni", addonVersion="v1.15.0-eksbuild.2"
    )


@scenario(f"{SETTINGS}: some are off", (SETTINGS, WARN), base="auto-mode")
def no_block_storage(account: Account, _made: Made) -> None:
    faults.admin(account, "auto-mode", {"name": account.cluster, "blockStorage": False})


@scenario(
    f"{SETTINGS}: no built-in pool, and no entry",
    (SETTINGS, WARN),
    base="auto-mode",
    blanks=lambda account: {"FILL_IN_NODE_ROLE_ARN": node_role(account)},
)
def no_pools(account: Account, made: Made) -> None:
    faults.admin(account, "auto-mode", {"name": account.cluster, "nodePools": []})
    account.client("eks").delete_access_entry(
        clusterName=account.cluster, principalArn=made["nodeRole"]
    )


def node_role(account: Account) -> str:
    return account.arn("iam", "role/AmazonEKSAutoNodeRole", region="")


# What nothing that is printed can mend here


@scenario(
    "failed-launches: a key was refused",
    ("failed-launches", WARN),
    not_looped="it shows what was, and goes when the instance is forgotten",
)
def ended_instance(account: Account, _made: Made) -> None:
    faults.fail_launch(account)


@scenario(
    "organization-policies: a deny",
    ("organization-policies", FAIL),
    not_looped="the organisation's policies are its administrators' to change",
)
def denied_by_the_organization(account: Account, _made: Made) -> None:
    organization.seed_denying(account)


@scenario(
    "permissions-simulated: the organisation's policies are hidden",
    ("permissions-simulated", WARN),
    not_looped="the organisation's policies are its administrators' to change",
    arguments=("--simulate",),
)
def denied_by_a_hidden_policy(account: Account, _made: Made) -> None:
    simulation.seed(account)
