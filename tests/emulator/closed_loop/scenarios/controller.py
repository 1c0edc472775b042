"""The controller's role: who may take it, and what it may do."""

from __future__ import annotations

import json

from closed_loop import edits
from closed_loop.edits import name_of
from closed_loop.scenario import FAIL, WARN, Made, scenario
from seeds import roles
from seeds.account import Account

TRUST, PERMISSIONS, PASS = "controller-trust", "controller-permissions", "controller-pass-role"
IRSA = ("--namespace", "karpenter")
ISSUER = "https://oidc.eks.us-west-2.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF"


def of(made: Made) -> str:
    return name_of(made["controllerRole"])


# Who may take it


@scenario(f"{TRUST}: Pod Identity may not tag sessions", (TRUST, FAIL))
def no_tag_session(account: Account, made: Made) -> None:
    edits.set_trust(account, of(made), roles.trust("pods.eks.amazonaws.com"))


@scenario(f"{TRUST}: another service is trusted", (TRUST, FAIL))
def trusts_ec2(account: Account, made: Made) -> None:
    edits.set_trust(account, of(made), roles.trust("ec2.amazonaws.com"))


@scenario("pod-identity-agent: missing", ("pod-identity-agent", WARN), cases=("C04", "C129"))
def no_agent(account: Account, _made: Made) -> None:
    account.client("eks").delete_addon(
        clusterName=account.cluster, addonName="eks-pod-identity-agent"
    )


@scenario(
    f"{TRUST}: no association", (TRUST, FAIL), arguments=("--controller-role", "demo-karpenter")
)
def no_association(account: Account, _made: Made) -> None:
    account.client("eks").delete_pod_identity_association(
        clusterName=account.cluster, associationId=edits.association(account)
    )


@scenario(
    f"{TRUST}: associated with another service account",
    (TRUST, FAIL),
    arguments=("--controller-role", "demo-karpenter"),
)
def other_service_account(account: Account, made: Made) -> None:
    no_association(account, made)
    account.client("eks").create_pod_identity_association(
        clusterName=account.cluster,
        namespace="karpenter",
        serviceAccount="karpenter",
        roleArn=made["controllerRole"],
    )


@scenario(
    f"{TRUST}: no OIDC provider",
    (TRUST, FAIL),
    base="eksctl-irsa",
    arguments=(*IRSA, "--discovery-tag", "Name"),
    cases=("C03",),
)
def no_provider(account: Account, _made: Made) -> None:
    iam = account.client("iam")
    for provider in iam.list_open_id_connect_providers()["OpenIDConnectProviderList"]:
        iam.delete_open_id_connect_provider(OpenIDConnectProviderArn=provider["Arn"])


@scenario(
    f"{TRUST}: the OIDC provider lacks the audience",
    (TRUST, FAIL),
    base="eksctl-irsa",
    arguments=(*IRSA, "--discovery-tag", "Name"),
)
def no_audience(account: Account, _made: Made) -> None:
    iam = account.client("iam")
    provider = iam.list_open_id_connect_providers()["OpenIDConnectProviderList"][0]["Arn"]
    iam.delete_open_id_connect_provider(OpenIDConnectProviderArn=provider)
    url = "https://" + provider.partition("/")[2]
    iam.create_open_id_connect_provider(Url=url, ClientIDList=["sigstore"])


@scenario(
    f"{TRUST}: another service account is trusted",
    (TRUST, FAIL),
    base="eksctl-irsa",
    arguments=(*IRSA, "--service-account", "my-karpenter", "--discovery-tag", "Name"),
    cases=("C02",),
)
def release_of_another_name(_account: Account, _made: Made) -> None:
    """The chart's release has another name than the role was made for."""


@scenario(
    f"{TRUST}: another namespace is trusted",
    (TRUST, WARN),
    base="eksctl-irsa",
    arguments=("--discovery-tag", "Name"),
)
def moved_to_kube_system(_account: Account, _made: Made) -> None:
    """Nothing says where Karpenter runs, and the role was made for the old namespace."""


@scenario(
    f"{TRUST}: another cluster's issuer is trusted",
    (TRUST, FAIL),
    base="eksctl-irsa",
    arguments=(*IRSA, "--discovery-tag", "Name"),
)
def issuer_of_the_old_cluster(account: Account, made: Made) -> None:
    document = roles.web_identity_trust(account, ISSUER, "karpenter", "karpenter")
    edits.set_trust(account, of(made), document)


# What it may do


@scenario(f"{PERMISSIONS}: the controller does not start", (PERMISSIONS, FAIL), cases=("C11",))
def no_describe_cluster(account: Account, made: Made) -> None:
    edits.edit_policies(account, of(made), edits.without("eks:DescribeCluster"))


@scenario(
    f"{PERMISSIONS}: no launches",
    (PERMISSIONS, FAIL),
    base="terraform-module",
    cases=("C17",),
)
def no_spot_request_tags(account: Account, made: Made) -> None:
    old = f"arn:aws:ec2:{account.region}:*:spot-instances-request/*"
    edits.edit_policies(account, of(made), edits.replaced(old, old.replace("spot-", "s-")))


@scenario(f"{PERMISSIONS}: no launches", (PERMISSIONS, FAIL), cases=("C22",))
def no_instance_profiles(account: Account, made: Made) -> None:
    gone = edits.without("iam:GetInstanceProfile", "iam:CreateInstanceProfile")
    edits.edit_policies(account, of(made), gone)


@scenario(
    f"{PERMISSIONS}: nodes cannot be deleted",
    (PERMISSIONS, FAIL),
    region="us-gov-west-1",
    cases=("C27",),
)
def partition_written_out(account: Account, made: Made) -> None:
    edits.edit_policies(account, of(made), edits.replaced("arn:aws-us-gov:ec2", "arn:aws:ec2"))


@scenario(f"{PERMISSIONS}: nodes stay untagged", (PERMISSIONS, WARN), cases=("C16",))
def no_tags_after_launch(account: Account, made: Made) -> None:
    def edit(document: edits.Document) -> edits.Document:
        kept = [s for s in edits.statements(document) if s["Sid"] != "AllowScopedResourceTagging"]
        return {**document, "Statement": kept}

    edits.edit_policies(account, of(made), edit)


@scenario(f"{PERMISSIONS}: something is left behind", (PERMISSIONS, FAIL), cases=("C13", "C44"))
def no_profile_lists(account: Account, made: Made) -> None:
    edits.edit_policies(account, of(made), edits.without("iam:ListInstanceProfiles"))


@scenario(f"{PERMISSIONS}: a feature goes without", (PERMISSIONS, WARN), cases=("C15",))
def older_than_the_controller(account: Account, made: Made) -> None:
    gone = edits.without("ec2:DescribeInstanceStatus", "ec2:DescribePlacementGroups")
    edits.edit_policies(account, of(made), gone)


@scenario(f"{PERMISSIONS}: the queue cannot be read", (PERMISSIONS, WARN), cases=("C18",))
def no_queue(account: Account, made: Made) -> None:
    gone = edits.without("sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage")
    edits.edit_policies(account, of(made), gone)


@scenario(f"{PERMISSIONS}: no images", (PERMISSIONS, FAIL), cases=("C88",))
def no_parameters(account: Account, made: Made) -> None:
    edits.edit_policies(account, of(made), edits.without("ssm:GetParameter"))


@scenario(f"{PERMISSIONS}: made for another cluster", (PERMISSIONS, FAIL))
def other_cluster(account: Account, made: Made) -> None:
    edits.edit_policies(
        account, of(made), edits.replaced("kubernetes.io/cluster/demo", "kubernetes.io/cluster/old")
    )


@scenario(
    f"{PERMISSIONS}: newer than the controller",
    (PERMISSIONS, FAIL),
    arguments=("--karpenter-version", "0.37.0"),
    cases=("C25",),
)
def policy_of_v1(_account: Account, _made: Made) -> None:
    """The policy asks for tags that the controller does not send yet."""


@scenario(
    f"{PERMISSIONS}: a deny",
    (PERMISSIONS, FAIL),
    not_looped="what denies is a statement of somebody's, to be narrowed by them",
)
def denied(account: Account, made: Made) -> None:
    deny = {"Effect": "Deny", "Action": "ec2:RunInstances", "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [deny]})
    account.client("iam").put_role_policy(
        RoleName=of(made), PolicyName="guardrail", PolicyDocument=document
    )


@scenario(f"{PASS}: not allowed", (PASS, FAIL))
def no_pass_role(account: Account, made: Made) -> None:
    edits.edit_policies(account, of(made), edits.without("iam:PassRole"))


@scenario(f"{PASS}: another role is named", (PASS, FAIL), base="terraform-module", cases=("C40",))
def role_of_another_apply(account: Account, made: Made) -> None:
    name = name_of(made["nodeRole"])
    edits.edit_policies(account, of(made), edits.replaced(name, name[:-1] + "x"))


@scenario(f"{PASS}: the path is left out", (PASS, FAIL), cases=("C43",))
def role_with_a_path(account: Account, made: Made) -> None:
    iam, eks = account.client("iam"), account.client("eks")
    name = name_of(made["nodeRole"])
    edits.delete_role(account, name)
    eks.delete_access_entry(clusterName=account.cluster, principalArn=made["nodeRole"])
    role = iam.create_role(
        RoleName=name,
        Path="/team/",
        AssumeRolePolicyDocument=json.dumps(roles.node_trust(account)),
    )["Role"]["Arn"]
    for policy in roles.NODE_POLICIES:
        iam.attach_role_policy(RoleName=name, PolicyArn=account.managed_policy(policy))
    eks.create_access_entry(clusterName=account.cluster, principalArn=role, type="EC2_LINUX")


# Its boundary


def bound(account: Account, role: str, boundary: dict[str, object]) -> None:
    iam = account.client("iam")
    document = json.dumps({"Version": "2012-10-17", "Statement": [boundary]})
    arn = iam.create_policy(PolicyName="boundary", PolicyDocument=document)["Policy"]["Arn"]
    iam.put_role_permissions_boundary(RoleName=role, PermissionsBoundary=arn)


@scenario("permissions-boundary: it leaves out", ("permissions-boundary", FAIL), cases=("C34",))
def boundary_without_eks(account: Account, made: Made) -> None:
    allow = {"Effect": "Allow", "NotAction": "eks:*", "Resource": "*"}
    bound(account, of(made), allow)


@scenario("permissions-boundary: of the nodes", ("permissions-boundary", FAIL))
def boundary_of_the_nodes(account: Account, made: Made) -> None:
    allow = {"Effect": "Allow", "NotAction": "ecr:*", "Resource": "*"}
    bound(account, name_of(made["nodeRole"]), allow)


@scenario(
    "permissions-boundary: one of AWS's",
    ("permissions-boundary", FAIL),
    not_looped="another boundary has to be chosen",
)
def boundary_of_aws(account: Account, made: Made) -> None:
    account.client("iam").put_role_permissions_boundary(
        RoleName=of(made), PermissionsBoundary=account.managed_policy("ReadOnlyAccess")
    )


@scenario(
    "new-roles-boundary: the cluster's role has one",
    ("new-roles-boundary", WARN),
    arguments=("--stage", "before"),
    not_looped="whether new roles want the boundary is for the organisation to say",
)
def bounded_cluster_role(account: Account, _made: Made) -> None:
    iam = account.client("iam")
    cluster = account.client("eks").describe_cluster(name=account.cluster)["cluster"]
    statement = {"Effect": "Allow", "Action": "*", "Resource": "*"}
    boundary = iam.create_policy(
        PolicyName="everyones-boundary",
        PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [statement]}),
    )["Policy"]["Arn"]
    iam.put_role_permissions_boundary(
        RoleName=name_of(cluster["roleArn"]), PermissionsBoundary=boundary
    )
