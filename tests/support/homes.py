"""A home as a user has it after the first run, and what takes long to make for it: made once for all tests."""

import fcntl
import hashlib
import shutil
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from geosleuth.atlas.base import base_path
from geosleuth.atlas.regions import import_osm, region_name
from geosleuth.atlas.regions.region_file import region_path

ROOT = Path(__file__).resolve().parents[2]


def made_once(name: str, made_of: Iterable[Path], make: Callable[[Path], object]) -> Path:
    """A file in the project's cache folder that is kept until what it is made of changes.

    Several test processes may ask at once; one makes it, the others wait.

    Args:
        name: What the file's name begins with.
        made_of: Files, and folders with all that is in them.
        make: Writes the file.
    """
    digest = hashlib.sha256()
    for part in made_of:
        for file in [part] if part.is_file() else sorted(part.rglob("*")):
            if file.is_file() and file.suffix != ".pyc":
                digest.update(file.read_bytes())
    folder = ROOT / ".cache" / "test-atlas"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{digest.hexdigest()[:16]}.sqlite"
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.is_file():
            for old in folder.glob(f"{name}-*"):
                shutil.rmtree(old) if old.is_dir() else old.unlink()
            make(path)
    return path


def add_region(extract: Path, folder: Path) -> Path:
    """An extract added to a folder of regions; tests of importing itself call `import_osm`."""
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(_imported(extract), region_path(folder, region_name(None, extract))))


@cache
def _imported(extract: Path) -> Path:
    def make(path: Path) -> None:
        with TemporaryDirectory(dir=path.parent) as scratch:
            import_osm(extract, folder=Path(scratch)).path.rename(path)

    source = ROOT / "src" / "geosleuth"
    code = [source / part for part in ("atlas/regions", "atlas/search", "geo", "names")]
    # Two extracts may give regions of the same name.
    content = hashlib.sha256(extract.read_bytes()).hexdigest()[:8]
    return made_once(f"region-{region_name(None, extract)}-{content}", code, make)


def home_with_base(folder: Path, base_file: Path) -> Path:
    """A folder to be named by GEOSLEUTH_HOME, with the base atlas in it and no region."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEOSLEUTH_HOME", str(folder))
        target = base_path()
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(base_file)
        drawn = target.parent / "tiles" / _world_folder(base_file)
    # The world's outlines take ten seconds to put together: whoever draws the first map does it for all homes.
    world = base_file.with_suffix(".world")
    world.mkdir(exist_ok=True)
    drawn.parent.mkdir(exist_ok=True)
    drawn.symlink_to(world)
    # What is put together once for all commands, too.
    prepared = base_file.with_suffix(".prepared")
    prepared.mkdir(exist_ok=True)
    (target.parent / "prepared").symlink_to(prepared)
    return folder


@cache
def _world_folder(base_file: Path) -> str:
    """What the folder of outlines made with this base atlas is called; asked in a home that has it."""
    from geosleuth.atlas.tiles import TileMaker

    assert base_file.is_file()
    return f"world-{TileMaker()._world_version}"
