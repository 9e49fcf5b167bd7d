"""Tables that makers write are data sets again."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from geosleuth.geo import LatLon
from geosleuth.lab.bench.makers.photo_tables import check_table, field_names, writing_table
from geosleuth.lab.bench.sets import DatasetBox, Item, open_set
from geosleuth.lab.score import Truth
from geosleuth.support.errors import BadInput
from maker_sets import jpeg, photo_set, picture


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_what_is_written_is_read_back(tmp_path: Path, ending: str) -> None:
    data = photo_set(tmp_path, [(48.123456789012345, 2.5), (-0.1, -179.99)])
    first, second = data
    truth = Truth(first.truth.point, "France", "Île-de-France", "Paris, Texas")
    first = Item(
        first.id, first.picture, truth, {"kind": 'a "quoted", thing'}, (DatasetBox("text", 0.1, 0.2, 0.3, 0.4),)
    )
    out = tmp_path / f"made.{ending}"
    with writing_table(out, field_names([first, second], "more")) as write:
        write(first, {"more": "1"})
        write(second)
    one, other = open_set(str(out))
    assert (one.id, one.truth, dict(one.fields), one.boxes) == (
        first.id,
        truth,
        {"kind": 'a "quoted", thing', "more": "1"},
        first.boxes,
    )
    assert one.picture.read() == first.picture.read()
    assert (other.truth, dict(other.fields)) == (second.truth, {})
    assert not (tmp_path / "made_photos").exists()


def test_photos_from_elsewhere_are_linked_and_their_files_stay_as_they_are(tmp_path: Path) -> None:
    data = photo_set(tmp_path / "there", [(1.0, 2.0)])
    source = tmp_path / "there" / "photos" / "0.jpg"
    source.chmod(0o440)
    (tmp_path / "here").mkdir()
    out = tmp_path / "here" / "made.csv"
    with writing_table(out) as write:
        for one in data:
            write(one)
    (made,) = open_set(str(out))
    assert made.picture.read() == source.read_bytes()
    assert source.stat().st_mode & 0o777 == 0o440
    assert source.stat().st_nlink == 2


def test_a_link_that_leads_out_of_a_set_brings_nothing_along(tmp_path: Path) -> None:
    secret = tmp_path / "secret.jpg"
    secret.write_text("not for you")
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    (there / "a.jpg").symlink_to(secret)
    (there / "set.csv").write_text("image,lat,lon\na.jpg,1,2\n")
    (item,) = open_set(str(there / "set.csv"))
    with pytest.raises(BadInput, match="a link leads out of"), writing_table(here / "made.csv") as write:
        write(item)
    assert list(here.iterdir()) == []
    assert secret.stat().st_nlink == 1


@dataclass(frozen=True)
class Packed:
    """A photo inside some archive."""

    content: bytes
    where: str = "archive.zip: 1.jpg"

    def read(self) -> bytes:
        return self.content

    def size_bytes(self) -> int | None:
        return None


def test_photos_out_of_archives_become_files(tmp_path: Path) -> None:
    packed = Item("a", Packed(jpeg(picture(1))), Truth(LatLon(1, 2)))
    out = tmp_path / "made.jsonl"
    with writing_table(out) as write:
        write(packed)
    (made,) = open_set(str(out))
    assert made.picture.read() == packed.picture.read()
    assert json.loads(out.read_text())["image"].startswith("made_photos/")


def test_an_interrupted_table_leaves_the_old_one(tmp_path: Path) -> None:
    out = tmp_path / "made.csv"
    out.write_text("old")
    with pytest.raises(KeyboardInterrupt), writing_table(out):
        raise KeyboardInterrupt
    assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]


def test_what_can_not_be_written_is_said_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"give a name that ends in \.csv or \.jsonl"):
        check_table(tmp_path / "a.txt")
    with pytest.raises(BadInput, match="does not exist"):
        check_table(tmp_path / "no" / "a.csv")
    with pytest.raises(BadInput, match="is an input of this command"):
        check_table(tmp_path / "a.csv", tmp_path / "." / "a.csv")
