"""Put our response classes in the place of moto's, in its tables of URLs."""

from __future__ import annotations

import moto.ec2.urls
import moto.eks.urls
import moto.iam.urls
import moto.moto_api._internal.urls
import moto.organizations.urls
import moto.servicequotas.urls
import moto.ssm.urls
import moto.sts.urls

from preflight_emulator import accounts, admin, iam, kms, managed_policies, speed, sqs
from preflight_emulator.ec2 import account_switches
from preflight_emulator.ec2.responses import CompleteEc2Response
from preflight_emulator.eks.responses import CompleteEksResponse
from preflight_emulator.iam import CompleteIamResponse
from preflight_emulator.organizations import CompleteOrganizationsResponse
from preflight_emulator.quotas import CompleteServiceQuotasResponse
from preflight_emulator.ssm import CompleteSsmResponse
from preflight_emulator.sts import CompleteStsResponse

# The operation is found from the service model, so one pattern serves a whole resource.
EKS_PATHS = [
    "{0}/clusters$",
    "{0}/clusters/(?P<name>[^/]+)$",
    "{0}/clusters/(?P<name>[^/]+)/node-groups$",
    "{0}/clusters/(?P<name>[^/]+)/node-groups/(?P<rest>.+)$",
    "{0}/clusters/(?P<name>[^/]+)/fargate-profiles$",
    "{0}/clusters/(?P<name>[^/]+)/fargate-profiles/(?P<rest>.+)$",
    "{0}/clusters/(?P<name>[^/]+)/update-config$",
    "{0}/clusters/(?P<name>[^/]+)/updates$",
    "{0}/clusters/(?P<name>[^/]+)/updates/(?P<rest>.+)$",
    "{0}/clusters/(?P<name>[^/]+)/access-entries$",
    "{0}/clusters/(?P<name>[^/]+)/access-entries/(?P<rest>.+)$",
    "{0}/clusters/(?P<name>[^/]+)/pod-identity-associations$",
    "{0}/clusters/(?P<name>[^/]+)/pod-identity-associations/(?P<rest>.+)$",
    "{0}/clusters/(?P<name>[^/]+)/addons$",
    "{0}/clusters/(?P<name>[^/]+)/addons/(?P<rest>.+)$",
    "{0}/tags/(?P<resourceArn>.+)$",
]


def install() -> None:
    """Must run before the first request: moto reads these tables once a service."""
    moto.eks.urls.url_paths.clear()
    moto.eks.urls.url_paths.update(dict.fromkeys(EKS_PATHS, CompleteEksResponse.dispatch))
    moto.ec2.urls.url_paths["{0}/"] = CompleteEc2Response.dispatch
    moto.iam.urls.url_paths["{0}/$"] = CompleteIamResponse.dispatch
    moto.organizations.urls.url_paths["{0}/$"] = CompleteOrganizationsResponse.dispatch
    moto.servicequotas.urls.url_paths["{0}/$"] = CompleteServiceQuotasResponse.dispatch
    moto.ssm.urls.url_paths["{0}/$"] = CompleteSsmResponse.dispatch
    moto.sts.urls.url_paths["{0}/$"] = CompleteStsResponse.dispatch
    moto.moto_api._internal.urls.url_paths.update(admin.URL_PATHS)
    account_switches.install()
    accounts.install()
    managed_policies.install()
    iam.install()
    kms.install()
    sqs.install()
    speed.install()
