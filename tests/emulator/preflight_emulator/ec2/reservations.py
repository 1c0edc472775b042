"""Capacity reservations and placement groups: accounts here have none."""

from __future__ import annotations

from moto.core.responses import ActionResult
from moto.ec2.responses._base_response import EC2BaseResponse


class Reservations(EC2BaseResponse):
    def describe_capacity_reservations(self) -> ActionResult:
        self.error_on_dryrun()
        return ActionResult({"CapacityReservations": []})

    def describe_placement_groups(self) -> ActionResult:
        self.error_on_dryrun()
        return ActionResult({"PlacementGroups": []})
