"""A home that the servers of all these tests share: they only read it."""

from pathlib import Path

import pytest

from geosleuth.geo import LatLon
from geosleuth.tools.similar import build_index
from mcp_talk import make_home
from scenery import save, scene
from signs import sign_photo


@pytest.fixture(scope="session")
def mcp_home(tmp_path_factory: pytest.TempPathFactory, base_file: Path) -> Path:
    return make_home(tmp_path_factory.mktemp("mcp-home"), base_file)


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a photo of a sign, beside it a file that is no photo and an index of other photos."""
    place = tmp_path_factory.mktemp("mcp-photos")
    folder = place / "photos"
    folder.mkdir()
    sign_photo(folder / "sign.jpg", "RUE GRIMALDI", "MONACO")
    (place / "secret.txt").write_text("not for clients")
    (folder / "way-out.jpg").symlink_to(place / "secret.txt")
    for number in range(3):
        save(scene(number), place / "album" / f"scene{number}.jpg", LatLon(40 + number, 10))
    build_index(place / "album", place / "album.index")
    return place
