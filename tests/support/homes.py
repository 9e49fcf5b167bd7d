"""A home as a user has it after the first run."""

from pathlib import Path

import pytest

from geosleuth.atlas.base import base_path


def home_with_base(folder: Path, base_file: Path) -> Path:
    """A folder to be named by GEOSLEUTH_HOME, with the base atlas in it and no region."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEOSLEUTH_HOME", str(folder))
        target = base_path()
    target.parent.mkdir(parents=True, exist_ok=True)
    target.symlink_to(base_file)
    return folder
