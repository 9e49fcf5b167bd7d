"""One home and one open atlas for all tests of the factory: opening it takes seconds."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from geosleuth.atlas import OfflineAtlas
from homes import home_with_base


@pytest.fixture(scope="package", autouse=True)
def factory_home(base_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home with the base atlas in it and no region."""
    folder = home_with_base(tmp_path_factory.mktemp("factory-home"), base_file)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEOSLEUTH_HOME", str(folder))
        yield folder


@pytest.fixture(scope="package")
def atlas(factory_home: Path) -> OfflineAtlas:
    """The plain atlas, opened once."""
    assert factory_home.is_dir()
    return OfflineAtlas()
