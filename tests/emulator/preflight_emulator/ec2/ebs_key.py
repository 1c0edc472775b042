"""The default KMS key of EBS."""

from __future__ import annotations

from moto.core.responses import ActionResult
from moto.ec2.responses._base_response import EC2BaseResponse

from preflight_emulator.ec2.settings import settings_of

AWS_MANAGED_KEY = "alias/aws/ebs"


class EbsDefaultKey(EC2BaseResponse):
    def get_ebs_default_kms_key_id(self) -> ActionResult:
        self.error_on_dryrun()
        return self._answer()

    def modify_ebs_default_kms_key_id(self) -> ActionResult:
        self.error_on_dryrun()
        settings_of(self.ec2_backend).ebs_default_kms_key_id = self._key_arn(
            self._get_param("KmsKeyId")
        )
        return self._answer()

    def reset_ebs_default_kms_key_id(self) -> ActionResult:
        self.error_on_dryrun()
        settings_of(self.ec2_backend).ebs_default_kms_key_id = None
        return self._answer()

    def _answer(self) -> ActionResult:
        key = settings_of(self.ec2_backend).ebs_default_kms_key_id
        return ActionResult({"KmsKeyId": key or AWS_MANAGED_KEY})

    def _key_arn(self, key: str) -> str:
        """EC2 stores a key's ARN, whichever way the caller named it."""
        if key.startswith("arn:"):
            return key
        prefix = f"arn:{self.partition}:kms:{self.region}:{self.current_account}"
        return f"{prefix}:{key}" if key.startswith("alias/") else f"{prefix}:key/{key}"
