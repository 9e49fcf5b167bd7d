"""Region files of another machine are checked and copied."""

from pathlib import Path

import pytest

from geosleuth.atlas.regions import RegionInfo, Regions, copy_region
from geosleuth.geo import LatLon
from geosleuth.support.errors import BadInput


def test_what_is_no_such_file_is_one_line_and_stays(tmp_path: Path, monaco: RegionInfo) -> None:
    whole = monaco.path.read_bytes()
    for content in (b"no database", whole[: len(whole) // 2], _overwritten(whole)):
        path = tmp_path / "x.region.sqlite"
        path.write_bytes(content)
        with pytest.raises(BadInput) as caught:
            copy_region(path, folder=tmp_path / "new")
        assert "\n" not in str(caught.value)
        assert path.read_bytes() == content
        assert not list(tmp_path.glob("new/*"))


def _overwritten(whole: bytes) -> bytes:
    """A file whose header is sound, and half of whose pages are not."""
    half = len(whole) // 2
    return whole[:half] + b"\xff" * (len(whole) - half)


def test_a_region_of_another_machine_is_copied(tmp_path: Path, monaco: RegionInfo) -> None:
    brought = tmp_path / "usb" / "there.region.sqlite"
    brought.parent.mkdir()
    brought.write_bytes(monaco.path.read_bytes())
    info = copy_region(brought, "here", folder=tmp_path / "regions")
    assert (info.name, info.features, info.source) == ("here", monaco.features, monaco.source)
    assert [path.name for path in (tmp_path / "regions").iterdir()] == ["here.region.sqlite"]
    point = LatLon(43.7396, 7.4276)
    new, old = (Regions(folder).nearby(point, 300, limit=40) for folder in (tmp_path / "regions", monaco.path.parent))
    assert [(hit.place.name, hit.distance_km) for hit in new] == [(hit.place.name, hit.distance_km) for hit in old]
    again = copy_region(tmp_path / "regions" / "here.region.sqlite", folder=tmp_path / "regions")
    assert again.features == monaco.features
