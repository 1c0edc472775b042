"""``DescribeImages`` finds the images that SSM's public parameters name."""

from __future__ import annotations

from datetime import datetime, timezone

from moto.core.responses import ActionResult
from moto.ec2.models import EC2Backend
from moto.ec2.models.amis import Ami
from moto.ec2.responses.amis import AmisResponse

from preflight_emulator.images import RELEASE, NodeImage, node_images

# Any account of Amazon's: the alias is what callers filter by.
OWNER = "602401143452"
CREATED = datetime.strptime(RELEASE, "%Y%m%d").replace(tzinfo=timezone.utc)


class NodeImages(AmisResponse):
    def describe_images(self) -> ActionResult:
        load_images(self.ec2_backend)
        return super().describe_images()


def load_images(backend: EC2Backend) -> None:
    for image in node_images(backend.region_name):
        if image.image_id not in backend.amis:
            backend.amis[image.image_id] = _ami(backend, image)


def _ami(backend: EC2Backend, image: NodeImage) -> Ami:
    return Ami(
        backend,
        image.image_id,
        name=image.name,
        description=image.name,
        owner_id=OWNER,
        owner_alias="amazon",
        public=True,
        virtualization_type="hvm",
        architecture=image.architecture,
        creation_date=CREATED,
        platform="windows" if image.name.startswith("Windows") else None,
        image_location=f"amazon/{image.name}",
        hypervisor="xen",
        root_device_type="ebs",
        root_device_name="/dev/xvda",
        region_name=f"{backend.region_name}a",
    )
