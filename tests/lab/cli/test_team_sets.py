"""Every ``team`` command takes photos of any data set."""

from pathlib import Path

import pytest

from geosleuth.lab.cli.handlers.team_sources import load_photos
from geosleuth.support.errors import BadInput
from set_files import jpeg, put


def test_geoglobe_and_other_sets_by_name(tmp_path: Path) -> None:
    head = "index;city;country;hierarchical_label;category;natural_or_human_made;images\n"
    put(tmp_path / "location.csv", f"{head}1;Paris;France;x;tower;human_made;a b\n")
    for name in ("a", "b"):
        put(tmp_path / "pic" / f"{name}.jpg", jpeg(1))
    found = load_photos(Path(f"geoglobe:{tmp_path}"))
    assert [Path(one.picture.where).name for one in found] == ["a.jpg", "b.jpg"]
    assert round(found[0].truth.point.lat) == 49
    put(tmp_path / "photos.csv", "path,lat,lon\npic/a.jpg,1,2\n")
    assert [one.id for one in load_photos(tmp_path / "photos.csv")] == ["pic/a.jpg"]


def test_a_set_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file or folder"):
        load_photos(Path(f"geoglobe:{tmp_path / 'nowhere'}"))
