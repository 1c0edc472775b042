"""Policies and requests to begin from: what Karpenter is given and what it asks.

Documents are built from short rows. C, R and A stand for the cluster, region and account.
"""

C, R, A = "prod", "eu-west-1", "111122223333"
ROLE = f"arn:aws:iam::{A}:role/KarpenterControllerRole-{C}"
SESSION = f"arn:aws:sts::{A}:assumed-role/KarpenterControllerRole-{C}/karpenter-7d9"
USER = f"arn:aws:iam::{A}:user/team/operator"
NODE = f"arn:aws:iam::{A}:role/KarpenterNodeRole-{C}"
QUEUE = f"arn:aws:sqs:{R}:{A}:{C}"
CLUSTER = f"arn:aws:eks:{R}:{A}:cluster/{C}"
OWNED = f"kubernetes.io/cluster/{C}"


def ec2(*kinds):
    """ARN patterns of EC2 resources; images and snapshots have no account."""
    return [f"arn:aws:ec2:{R}:{'' if k in ('image', 'snapshot') else '*'}:{k}/*" for k in kinds]


def stmt(sid, action, resource, condition=None, effect="Allow"):
    s = {"Sid": sid, "Effect": effect, "Action": action, "Resource": resource}
    if condition:
        s["Condition"] = condition
    return s


def doc(*statements):
    return {"Version": "2012-10-17", "Statement": list(statements)}


def tagged(where, new):
    """Conditions on the tags of a request or resource; `new`: from 1.0 on."""
    equals = {f"aws:{where}/{OWNED}": "owned"}
    if new:
        equals[f"aws:{where}/eks:eks-cluster-name"] = C
    return {"StringEquals": equals, "StringLike": {f"aws:{where}/karpenter.sh/nodepool": "*"}}


CREATED = ["fleet", "instance", "volume", "network-interface", "launch-template"]


def controller(new, spot_tagged=True, split_access=True):
    """The controller's policy; the flags are the differences between 0.32 and 1.14."""
    run = ["ec2:RunInstances", "ec2:CreateFleet"]
    created = CREATED + (["spot-instances-request"] if spot_tagged else [])
    access = ["image", "snapshot", "security-group", "subnet"]
    if new:
        access += ["capacity-reservation", "placement-group"]
    if not split_access:
        access += ["launch-template"]
    if not spot_tagged:
        access += ["spot-instances-request"]
    profile = {"StringEquals": {f"aws:ResourceTag/{OWNED}": "owned",
                                "aws:ResourceTag/topology.kubernetes.io/region": R},
               "StringLike": {"aws:ResourceTag/karpenter.k8s.aws/ec2nodeclass": "*"}}
    profiles = f"arn:aws:iam::{A}:instance-profile/*" if new else "*"
    on_create = tagged("RequestTag", new)
    on_create["StringEquals"]["ec2:CreateAction"] = ["RunInstances", "CreateFleet", "CreateLaunchTemplate"]
    make = {"StringEquals": {f"aws:RequestTag/{OWNED}": "owned",
                             "aws:RequestTag/topology.kubernetes.io/region": R},
            "StringLike": {"aws:RequestTag/karpenter.k8s.aws/ec2nodeclass": "*"}}
    late = tagged("ResourceTag", False)
    late["ForAllValues:StringEquals"] = {"aws:TagKeys": ["eks:eks-cluster-name", "karpenter.sh/nodeclaim", "Name"]}
    late["StringEqualsIfExists"] = {"aws:RequestTag/eks:eks-cluster-name": C}
    region = {"StringEquals": {"aws:RequestedRegion": R}}
    statements = [
        stmt("AllowScopedEC2InstanceAccessActions", run, ec2(*access)),
        stmt("AllowScopedEC2InstanceActionsWithTags", run + ["ec2:CreateLaunchTemplate"],
             ec2(*created), tagged("RequestTag", new)),
        stmt("AllowScopedResourceCreationTagging", "ec2:CreateTags", ec2(*created), on_create),
        stmt("AllowScopedResourceTagging", "ec2:CreateTags", ec2("instance"), late),
        stmt("AllowScopedDeletion", ["ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"],
             ec2("instance", "launch-template"), tagged("ResourceTag", False)),
        stmt("AllowRegionalReadActions",
             [f"ec2:Describe{x}" for x in ("Images", "Instances", "InstanceTypeOfferings", "InstanceTypes",
                                           "LaunchTemplates", "SecurityGroups", "SpotPriceHistory", "Subnets")],
             "*", region),
        stmt("AllowSSMReadActions", "ssm:GetParameter", f"arn:aws:ssm:{R}::parameter/aws/service/*"),
        stmt("AllowPricingReadActions", "pricing:GetProducts", "*"),
        stmt("AllowInterruptionQueueActions",
             ["sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"], QUEUE),
        stmt("AllowPassingInstanceRole", "iam:PassRole", NODE,
             {"StringEquals": {"iam:PassedToService": ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"][: 2 if new else 1]}}),
        stmt("AllowScopedInstanceProfileCreationActions", "iam:CreateInstanceProfile", profiles, make),
        stmt("AllowScopedInstanceProfileActions",
             ["iam:AddRoleToInstanceProfile", "iam:RemoveRoleFromInstanceProfile", "iam:DeleteInstanceProfile"],
             profiles, profile),
        stmt("AllowInstanceProfileReadActions", "iam:GetInstanceProfile", profiles),
        stmt("AllowAPIServerEndpointDiscovery", "eks:DescribeCluster", CLUSTER),
    ]
    if split_access:
        statements.insert(1, stmt("AllowScopedEC2LaunchTemplateAccessActions", run,
                                  ec2("launch-template"), tagged("ResourceTag", False)))
    if new:
        statements.append(stmt("AllowUnscopedInstanceProfileListAction", "iam:ListInstanceProfiles", "*"))
    return doc(*statements)


PRINCIPAL_CLUSTER = "${aws:PrincipalTag/eks:eks-cluster-name}"
AUTO_MODE = doc(
    stmt("Templates", ["ec2:CreateFleet", "ec2:RunInstances"], "arn:aws:ec2:*:*:launch-template/*",
         {"StringEquals": {"aws:ResourceTag/eks:eks-cluster-name": PRINCIPAL_CLUSTER}}),
    stmt("Create", ["ec2:CreateFleet", "ec2:RunInstances", "ec2:CreateLaunchTemplate"], "*",
         {"StringEquals": {"aws:RequestTag/eks:eks-cluster-name": PRINCIPAL_CLUSTER},
          "StringLike": {"aws:RequestTag/eks:kubernetes-node-pool-name": "*"},
          "ForAllValues:StringLike": {"aws:TagKeys": ["eks:eks-cluster-name", "eks:kubernetes-node-pool-name",
                                                      "kubernetes.io/cluster/*"]}}),
    stmt("Tag", "ec2:CreateTags", "*", {"StringEquals": {"ec2:CreateAction": ["CreateFleet", "RunInstances"]}}),
    stmt("Profile", "iam:AddRoleToInstanceProfile", "arn:aws:iam::*:instance-profile/eks*"),
    stmt("Pass", "iam:PassRole", "*", {"StringEquals": {"iam:PassedToService": ["ec2.amazonaws.com"]}}),
)
OTHERS = [
    doc(stmt("Everything", "*", "*")),
    doc(stmt("Ec2", ["ec2:*", "iam:PassRole"], "*")),
    doc(stmt("Own", "sqs:*", f"arn:aws:sqs:{R}:{A}:${{aws:PrincipalTag/team, 'prod'}}"),
        stmt("Team", "ec2:*", "*", {"StringEquals": {"aws:ResourceTag/team": "${aws:PrincipalTag/team}"}})),
]
IDENTITY = [controller(True), controller(False), controller(False, False, False), AUTO_MODE, *OTHERS]

FULL = doc(stmt("Full", "*", "*"))
SCPS = [
    doc({"Sid": "Regions", "Effect": "Deny", "NotAction": ["iam:*", "sts:*", "pricing:*"], "Resource": "*",
         "Condition": {"StringNotEquals": {"aws:RequestedRegion": [R, "us-east-1"]}}}),
    doc(stmt("Imds", "ec2:RunInstances", "arn:aws:ec2:*:*:instance/*",
             {"StringNotEquals": {"ec2:MetadataHttpTokens": "required"}}, "Deny")),
    doc(stmt("Untagged", ["ec2:RunInstances", "ec2:CreateVolume"], ec2("instance", "volume"),
             {"Null": {"aws:RequestTag/team": "true"}}, "Deny")),
    doc(stmt("Admins", "iam:*", "*", {"ArnNotLike": {"aws:PrincipalArn": "arn:aws:iam::*:role/Admin*"}}, "Deny")),
    doc(stmt("Network", "*", "*", {"NotIpAddress": {"aws:SourceIp": ["10.0.0.0/8", "2001:db8::/32"]},
                                   "BoolIfExists": {"aws:ViaAWSService": "false"}}, "Deny")),
    doc(stmt("Types", "ec2:RunInstances", "arn:aws:ec2:*:*:instance/*",
             {"ForAnyValue:StringNotLike": {"ec2:InstanceType": ["*.large", "*.xlarge"]}}, "Deny")),
    doc(stmt("Hop", "ec2:RunInstances", "*",
             {"NumericGreaterThan": {"ec2:MetadataHttpPutResponseHopLimit": "1"}}, "Deny")),
    doc(stmt("Until", "*", "*", {"DateGreaterThan": {"aws:CurrentTime": "2026-06-30T00:00:00Z"}}, "Deny")),
    doc(stmt("Some", ["ec2:*", "iam:*", "sqs:*", "eks:*"], "*")),
]


def who(statement, principal, element="Principal"):
    return {**{k: v for k, v in statement.items() if k != "Sid"}, element: principal}


RCPS = [
    doc(who(stmt("", ["sqs:*"], "*", {"StringNotEqualsIfExists": {"aws:PrincipalOrgID": "o-1234567890"},
                                      "BoolIfExists": {"aws:PrincipalIsAWSService": "false"}}, "Deny"), "*")),
    doc(who(stmt("", ["sqs:*"], "*", {"BoolIfExists": {"aws:SecureTransport": "false"}}, "Deny"), "*")),
]
QUEUE_ACTIONS = ["sqs:ReceiveMessage", "sqs:DeleteMessage"]
RESOURCE = [
    doc(who(stmt("", QUEUE_ACTIONS, QUEUE, effect=effect), principal))
    for effect in ("Allow", "Deny")
    for principal in ("*", {"AWS": A}, {"AWS": ROLE}, {"AWS": [SESSION]}, {"AWS": f"arn:aws:iam::{A}:root"},
                      {"AWS": "444455556666"}, {"Service": ["events.amazonaws.com"]})
] + [doc(who(stmt("", "sqs:*", QUEUE, {"Bool": {"aws:SecureTransport": "false"}}, "Deny"), "*"))] + [
    doc(who(stmt("", QUEUE_ACTIONS, QUEUE, effect="Deny"), {"AWS": spared}, "NotPrincipal"))
    for spared in ([SESSION, ROLE, A], [SESSION, ROLE], [ROLE, A], [USER, A], [USER], [A], "444455556666")
] + [doc(who(stmt("", "sqs:*", QUEUE), {"AWS": [USER], "Service": "events.amazonaws.com"}))]

TAGS = {f"aws:RequestTag/{OWNED}": "owned", "aws:RequestTag/eks:eks-cluster-name": C,
        "aws:RequestTag/karpenter.sh/nodepool": "default",
        "aws:TagKeys": [OWNED, "eks:eks-cluster-name", "karpenter.sh/nodepool"]}
HAS = {f"aws:ResourceTag/{OWNED}": "owned", "aws:ResourceTag/eks:eks-cluster-name": C,
       "aws:ResourceTag/karpenter.sh/nodepool": "default"}
PROFILE = {f"aws:{w}Tag/{k}": v for w in ("Request", "Resource") for k, v in
           ((OWNED, "owned"), ("eks:eks-cluster-name", C), ("topology.kubernetes.io/region", R),
            ("karpenter.k8s.aws/ec2nodeclass", "default"))}


def arn(kind, name):
    return f"arn:aws:ec2:{R}:{'' if kind in ('image', 'snapshot') else A}:{kind}/{name}"


NAMES = {"instance": "i-0123456789abcdef0", "volume": "vol-0123456789abcdef0",
         "network-interface": "eni-0123456789abcdef0", "launch-template": "lt-0123456789abcdef0",
         "image": "ami-0123456789abcdef0", "snapshot": "snap-0123456789abcdef0",
         "subnet": "subnet-0123456789abcdef0", "security-group": "sg-0123456789abcdef0",
         "fleet": "fleet-01234567-89ab-cdef-0123-456789abcdef",
         "spot-instances-request": "sir-01234567", "capacity-reservation": "cr-0123456789abcdef0",
         "placement-group": "group"}
IMDS = {"ec2:MetadataHttpTokens": "required", "ec2:MetadataHttpPutResponseHopLimit": "1",
        "ec2:InstanceType": "m5.large"}
REQUESTS = (
    [("ec2:RunInstances", arn(k, n), {**TAGS, **(IMDS if k == "instance" else {})} if k in CREATED[1:4] or k == "spot-instances-request"
      else HAS if k == "launch-template" else {}) for k, n in NAMES.items() if k != "fleet"]
    + [("ec2:CreateFleet", arn(k, NAMES[k]), HAS if k == "launch-template" else TAGS if k in ("fleet", "instance") else {})
       for k in ("fleet", "instance", "launch-template", "subnet", "security-group", "image")]
    + [("ec2:CreateLaunchTemplate", arn("launch-template", NAMES["launch-template"]), TAGS)]
    + [("ec2:CreateTags", arn(k, NAMES[k]), {**TAGS, "ec2:CreateAction": "RunInstances"})
       for k in ("instance", "volume", "network-interface", "spot-instances-request", "fleet")]
    + [("ec2:CreateTags", arn("instance", NAMES["instance"]),
        {**HAS, "aws:RequestTag/Name": "x", "aws:TagKeys": ["Name", "karpenter.sh/nodeclaim"]})]
    + [("ec2:TerminateInstances", arn("instance", NAMES["instance"]), HAS),
       ("ec2:DeleteLaunchTemplate", arn("launch-template", NAMES["launch-template"]), HAS),
       ("iam:PassRole", NODE, {"iam:PassedToService": "ec2.amazonaws.com"}),
       ("iam:CreateInstanceProfile", f"arn:aws:iam::{A}:instance-profile/{C}_123", PROFILE),
       ("iam:AddRoleToInstanceProfile", f"arn:aws:iam::{A}:instance-profile/eks-{C}", PROFILE),
       ("iam:GetInstanceProfile", f"arn:aws:iam::{A}:instance-profile/{C}_123", {}),
       ("iam:ListInstanceProfiles", "*", {}),
       ("eks:DescribeCluster", CLUSTER, {}),
       ("ssm:GetParameter", f"arn:aws:ssm:{R}::parameter/aws/service/eks/optimized-ami/1.33/id", {}),
       ("pricing:GetProducts", "*", {})]
    + [(f"ec2:Describe{x}", "*", {}) for x in ("Images", "Subnets", "InstanceTypes", "InstanceStatus")]
    + [(f"sqs:{x}", QUEUE, {}) for x in ("ReceiveMessage", "DeleteMessage", "GetQueueUrl", "SendMessage")]
)
GLOBALS = {
    "aws:RequestedRegion": [R, R, R, "us-east-1", "ap-south-1"],
    "aws:SourceIp": ["10.1.2.3", "203.0.113.9", "2001:db8::5"],
    "aws:SecureTransport": ["true", "true", "false"],
    "aws:CurrentTime": ["2026-01-01T00:00:00Z", "2026-08-01T12:30:00Z"],
    "aws:EpochTime": ["1767225600", "1790000000"],
    "aws:PrincipalTag/eks:eks-cluster-name": [C, C, "test"],
    "aws:PrincipalTag/team": ["prod", "blue", "*", "Prod", ""],
    "aws:PrincipalOrgID": ["o-1234567890", "o-0987654321"],
    "aws:PrincipalOrgPaths": [["o-1/r-1/ou-1/"], ["o-1/r-1/ou-2/", "o-1/r-1/ou-3/"]],
    "aws:ViaAWSService": ["true", "false"],
    "aws:CalledVia": [["cloudformation.amazonaws.com"], ["athena.amazonaws.com", "ec2.amazonaws.com"]],
    "aws:SourceVpce": ["vpce-1", "vpce-2"],
    "aws:MultiFactorAuthAge": ["100", "4000"],
}
