"""Pod identity associations and add-ons."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError
from conftest import ACCOUNT, error_code, make_role


def test_an_association(client, make_cluster, node_role):
    make_cluster()
    eks = client("eks")
    created = eks.create_pod_identity_association(
        clusterName="c", namespace="kube-system", serviceAccount="karpenter", roleArn=node_role
    )["association"]
    assert created["associationId"].startswith("a-")
    found = eks.describe_pod_identity_association(
        clusterName="c", associationId=created["associationId"]
    )["association"]
    assert found == created
    assert found["roleArn"] == node_role
    assert found["disableSessionTags"] is False


def test_associations_are_filtered(client, make_cluster, node_role):
    make_cluster()
    eks = client("eks")
    for namespace, account in (("a", "x"), ("a", "y"), ("b", "x")):
        eks.create_pod_identity_association(
            clusterName="c", namespace=namespace, serviceAccount=account, roleArn=node_role
        )

    def listed(**filters):
        answer = eks.list_pod_identity_associations(clusterName="c", **filters)
        return [(a["namespace"], a["serviceAccount"]) for a in answer["associations"]]

    assert len(listed()) == 3
    assert listed(namespace="a") == [("a", "x"), ("a", "y")]
    assert listed(namespace="a", serviceAccount="y") == [("a", "y")]
    assert listed(serviceAccount="z") == []
    summary = eks.list_pod_identity_associations(clusterName="c")["associations"][0]
    assert "roleArn" not in summary


def test_one_association_a_service_account(client, make_cluster, node_role):
    make_cluster()
    eks = client("eks")
    names = {"clusterName": "c", "namespace": "n", "serviceAccount": "s", "roleArn": node_role}
    eks.create_pod_identity_association(**names)
    with pytest.raises(ClientError) as error:
        eks.create_pod_identity_association(**names)
    assert error_code(error) == "ResourceInUseException"


def test_a_role_that_does_not_exist(client, make_cluster):
    make_cluster()
    with pytest.raises(ClientError) as error:
        client("eks").create_pod_identity_association(
            clusterName="c",
            namespace="n",
            serviceAccount="s",
            roleArn=f"arn:aws:iam::{ACCOUNT}:role/gone",
        )
    assert error_code(error) == "InvalidParameterException"


def test_update_and_delete(client, make_cluster, node_role):
    make_cluster()
    eks = client("eks")
    other = make_role(client("iam"), "other")
    identifier = eks.create_pod_identity_association(
        clusterName="c", namespace="n", serviceAccount="s", roleArn=node_role
    )["association"]["associationId"]
    eks.update_pod_identity_association(
        clusterName="c", associationId=identifier, roleArn=other, disableSessionTags=True
    )
    found = eks.describe_pod_identity_association(clusterName="c", associationId=identifier)
    assert found["association"]["roleArn"] == other
    assert found["association"]["disableSessionTags"] is True
    eks.delete_pod_identity_association(clusterName="c", associationId=identifier)
    with pytest.raises(ClientError) as error:
        eks.describe_pod_identity_association(clusterName="c", associationId=identifier)
    assert error_code(error) == "ResourceNotFoundException"


def test_addons(client, make_cluster, node_role):
    make_cluster()
    eks = client("eks")
    eks.create_addon(clusterName="c", addonName="eks-pod-identity-agent")
    eks.create_addon(
        clusterName="c",
        addonName="vpc-cni",
        addonVersion="v1.19.0-eksbuild.1",
        podIdentityAssociations=[{"serviceAccount": "aws-node", "roleArn": node_role}],
    )
    assert eks.list_addons(clusterName="c")["addons"] == ["eks-pod-identity-agent", "vpc-cni"]
    addon = eks.describe_addon(clusterName="c", addonName="vpc-cni")["addon"]
    assert addon["status"] == "ACTIVE"
    assert addon["addonVersion"] == "v1.19.0-eksbuild.1"
    owned = eks.list_pod_identity_associations(clusterName="c")["associations"][0]
    assert owned["ownerArn"] == addon["addonArn"]
    assert addon["podIdentityAssociations"] == [owned["associationArn"]]

    with pytest.raises(ClientError) as error:
        eks.create_addon(clusterName="c", addonName="vpc-cni")
    assert error_code(error) == "ResourceInUseException"
    eks.delete_addon(clusterName="c", addonName="vpc-cni")
    with pytest.raises(ClientError) as error:
        eks.describe_addon(clusterName="c", addonName="vpc-cni")
    assert error_code(error) == "ResourceNotFoundException"


def test_through_the_command_line(aws, make_cluster, node_role):
    make_cluster()
    aws("eks", "create-pod-identity-association", "--cluster-name", "c", "--namespace", "kube-system",
        "--service-account", "karpenter", "--role-arn", node_role)
    listed = aws("eks", "list-pod-identity-associations", "--cluster-name", "c",
                 "--namespace", "kube-system")
    assert [a["serviceAccount"] for a in listed["associations"]] == ["karpenter"]
