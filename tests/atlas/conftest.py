"""One base atlas for all tests, built once and kept in the project's cache folder until its format changes."""

import fcntl
from pathlib import Path

import pytest

HOME = Path(__file__).resolve().parents[2] / ".cache" / "test-atlas"


@pytest.fixture(scope="session")
def base_file() -> Path:
    """The whole base atlas, as users have it."""
    from geosleuth.atlas.base import BASE_FORMAT, build_base

    path = HOME / f"base-{BASE_FORMAT}.sqlite"
    HOME.mkdir(parents=True, exist_ok=True)
    # Several test processes may ask at once; one builds, the others wait.
    with (HOME / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.is_file():
            build_base(path)
    return path


@pytest.fixture
def atlas_home(tmp_path: Path, base_file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, with the base atlas in it and no region."""
    from geosleuth.atlas.base import base_path

    monkeypatch.setenv("GEOSLEUTH_HOME", str(tmp_path))
    target = base_path()
    target.parent.mkdir(parents=True, exist_ok=True)
    target.symlink_to(base_file)
    return tmp_path
