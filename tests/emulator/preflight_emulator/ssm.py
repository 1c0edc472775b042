"""SSM: the public parameters that name the images for EKS nodes."""

from __future__ import annotations

from moto.core.utils import utcnow
from moto.ssm.models import Parameter, SimpleSystemManagerBackend
from moto.ssm.responses import SimpleSystemManagerResponse

from preflight_emulator.images import NodeImage, node_images

PUBLIC_PREFIX = "/aws/service/"


class CompleteSsmResponse(SimpleSystemManagerResponse):
    @property
    def ssm_backend(self) -> SimpleSystemManagerBackend:
        backend = super().ssm_backend
        if not vars(backend).get("preflight_images_loaded"):
            load_images(backend)
            vars(backend)["preflight_images_loaded"] = True
        return backend


def load_images(backend: SimpleSystemManagerBackend) -> None:
    for image in node_images(backend.region_name):
        for name in image.parameters:
            backend._parameters[name].append(_parameter(name, image, backend.account_id))


def _parameter(name: str, image: NodeImage, account: str) -> Parameter:
    return Parameter(
        account_id=account,
        name=name,
        value=image.image_id,
        parameter_type="String",
        description=None,
        allowed_pattern=None,
        keyid=None,
        last_modified_date=utcnow(),
        version=1,
        data_type="text",
    )
