"""The index over the user's own photos."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import ImageEnhance

from geosleuth.geo import LatLon
from geosleuth.photo import Album, first_view, open_photo
from geosleuth.photo.image_encoder import BundledEncoder
from geosleuth.support.errors import BadInput
from geosleuth.tools.similar import ImageIndex, build_index
from scenery import save, scene

if TYPE_CHECKING:
    from geosleuth.tools.calls import ImageSearch

COUNT = 20
POINTS = [LatLon(-40 + 4 * number, 10 + 5 * number) for number in range(COUNT)]


def album_in(folder: Path, count: int = COUNT) -> Path:
    for number in range(count):
        save(scene(number), folder / f"day{number % 2}" / f"scene{number}.jpg", POINTS[number])
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of photos and, beside it, its index; not to be changed."""
    place = tmp_path_factory.mktemp("made")
    build_index(album_in(place / "photos"), place / "photos.index")
    return place


@pytest.fixture(scope="module")
def index(made: Path) -> ImageIndex:
    return ImageIndex.open(made / "photos.index")


@pytest.mark.slow
def test_a_changed_copy_finds_its_original_first_with_its_place(index: ImageIndex) -> None:
    for number in range(0, COUNT, 3):
        darker = ImageEnhance.Brightness(scene(number)).enhance(0.65)
        closer = scene(number).crop((70, 50, 620, 460))
        for changed in (darker, closer):
            best, *others = index.find(changed, limit=5)
            assert best.title == f"day{number % 2}/scene{number}.jpg"
            assert best.point is not None
            assert (best.point.lat, best.point.lon) == pytest.approx((POINTS[number].lat, POINTS[number].lon))
            assert best.same is None
            assert 1 >= best.score > others[0].score
            assert [other.score for other in others] == sorted((other.score for other in others), reverse=True)


def test_scores_are_cosines(index: ImageIndex, made: Path) -> None:
    encoder = BundledEncoder()
    asked = scene(99)
    best = index.find(asked, limit=COUNT)
    assert len(best) == COUNT
    for match in best[:3]:
        there = first_view(open_photo(made / "photos" / match.title).photo).image
        first, second = encoder.features([asked, there])
        assert match.score == pytest.approx(float(first @ second), abs=2e-3)


def test_it_is_an_image_search_and_gives_no_more_than_the_relative_name(index: ImageIndex, made: Path) -> None:
    search: ImageSearch = index
    view = Album().add(open_photo(save(scene(3).rotate(4), made / "asked.jpg")).photo)
    (best, *_) = found = asyncio.run(search.search(view, limit=4))
    assert len(found) == 4
    assert best.title == "day1/scene3.jpg"
    assert best.source == search.name == "own photos"
    assert best.point is not None
    assert best.url is None
    assert str(made) not in repr(found)


def test_a_photo_is_no_evidence_for_itself(index: ImageIndex, made: Path) -> None:
    opened = open_photo(made / "photos/day1/scene5.jpg")
    view = Album().add(opened.photo)
    asked = index.exclude([opened])
    best, *others = asyncio.run(asked.search(view, limit=3))
    assert best.title == "identical file"
    assert best.score == pytest.approx(1, abs=1e-3)
    assert best.point is None
    assert all(other.point is not None for other in others)


def test_nor_does_a_crop_of_it_find_it_as_evidence(index: ImageIndex, made: Path) -> None:
    opened = open_photo(made / "photos/day1/scene5.jpg")
    album = Album()
    cut = album.crop(album.add(opened.photo).handle, [40, 40, 600, 440])
    best, *_ = asyncio.run(index.exclude([opened]).search(cut, limit=3))
    assert best.title == "identical file"
    assert best.point is None


def test_nor_does_a_copy_without_metadata_under_another_name(index: ImageIndex, made: Path) -> None:
    data = (made / "photos/day1/scene5.jpg").read_bytes()
    start = data.index(b"\xff\xe1")
    length = int.from_bytes(data[start + 2 : start + 4], "big")
    opened = open_photo(data[:start] + data[start + 2 + length :])
    assert opened.claims.point is None
    best, *_ = asyncio.run(index.search(Album().add(opened.photo)))
    assert best.title == "identical picture"
    assert best.point is None


def test_only_what_is_new_or_changed_is_looked_at_again(tmp_path: Path) -> None:
    folder, out = album_in(tmp_path / "photos", 6), tmp_path / "x.index"
    assert build_index(folder, out).added == 6
    again = build_index(folder, out)
    assert (again.added, again.unchanged, again.removed, again.total) == (0, 6, 0, 6)
    save(scene(50), folder / "day0/scene0.jpg", LatLon(1, 2))
    save(scene(51), folder / "new/one.jpg", LatLon(3, 4))
    (folder / "day1/scene1.jpg").unlink()
    after = build_index(folder, out)
    assert (after.added, after.unchanged, after.removed, after.total) == (2, 4, 1, 6)
    best, *_ = ImageIndex.open(out).find(scene(50).crop((20, 20, 620, 460)))
    assert (best.title, best.point) == ("day0/scene0.jpg", LatLon(1, 2))
    assert "scene1.jpg" not in repr(ImageIndex.open(out).find(scene(1), limit=10))


def test_several_folders_share_an_index(tmp_path: Path) -> None:
    out = tmp_path / "x.index"
    build_index(album_in(tmp_path / "a", 3), out)
    save(scene(70), tmp_path / "b/other.jpg", LatLon(5, 6))
    done = build_index(tmp_path / "b", out)
    assert (done.added, done.removed, done.total) == (1, 0, 4)


class Stopped(Exception):
    pass


@pytest.mark.slow
def test_an_interrupted_run_loses_nothing_that_was_finished(tmp_path: Path) -> None:
    folder, out = album_in(tmp_path / "photos", 18), tmp_path / "x.index"

    def stop_after_a_batch(done: int, total: int) -> None:
        assert total == 18
        if done:
            raise Stopped

    with pytest.raises(Stopped):
        build_index(folder, out, progress=stop_after_a_batch)
    kept = len(ImageIndex.open(out))
    assert 0 < kept < 18
    done = build_index(folder, out)
    assert (done.added, done.unchanged, done.total) == (18 - kept, kept, 18)


@pytest.mark.slow
def test_a_killed_run_leaves_an_index_that_opens_and_goes_on(tmp_path: Path) -> None:
    for number in range(64):
        save(scene(number), tmp_path / "photos" / f"{number}.jpg", LatLon(number + 1, number))
    out = tmp_path / "x.index"
    program = (
        "import sys; from pathlib import Path; from geosleuth.tools.similar import build_index; "
        "build_index(Path(sys.argv[1]), Path(sys.argv[2]), progress=lambda done, _: print(done, flush=True))"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "photos"), str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        finished = next(int(line) for line in run.stdout if int(line))
        run.send_signal(signal.SIGKILL)
    kept = len(ImageIndex.open(out))
    done = build_index(tmp_path / "photos", out)
    assert 0 < finished <= kept < 64
    assert (done.unchanged, done.total) == (kept, 64)


def test_bad_photos_are_left_out_and_counted_with_the_reason(tmp_path: Path) -> None:
    folder = album_in(tmp_path / "photos", 2)
    (folder / "empty.jpg").write_bytes(b"")
    (folder / "text.png").write_text("not a picture")
    (folder / "cut.jpg").write_bytes((folder / "day0/scene0.jpg").read_bytes()[:3000])
    (folder / "notes.txt").write_text("no photo, no trouble")
    (folder / ".hidden.jpg").write_bytes(b"")
    (folder / "dangling.jpg").symlink_to(folder / "nowhere")
    save(scene(9), folder / "nowhere.jpg")
    for _ in range(2):
        done = build_index(folder, tmp_path / "x.index")
        assert done.total == 2
        assert {one.path for one in done.skipped} == {"cut.jpg", "dangling.jpg", "empty.jpg", "nowhere.jpg", "text.png"}
        assert done.reasons["no coordinates"] == 1
        assert done.reasons["the file is empty; give a photo"] == 1
        assert str(tmp_path) not in repr(done.skipped)


@pytest.mark.skipif(sys.platform == "win32" or sys.platform == "darwin", reason="file names must be text there")
def test_file_names_need_not_be_text(tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    plain = save(scene(1), folder / "x.jpg", LatLon(1, 1))
    plain.rename(os.fsdecode(os.fsencode(folder) + b"/\xff\n.jpg"))
    build_index(folder, tmp_path / "x.index")
    assert build_index(folder, tmp_path / "x.index").unchanged == 1
    (match,) = ImageIndex.open(tmp_path / "x.index").find(scene(2))
    assert match.title == "\ufffd\ufffd.jpg"


def test_coordinates_may_come_from_a_table(tmp_path: Path) -> None:
    folder = album_in(tmp_path / "photos", 2)
    save(scene(9), folder / "bare.jpg")
    out, table = tmp_path / "x.index", tmp_path / "places.csv"
    assert build_index(folder, out).total == 2
    absolute = folder / "day1/scene1.jpg"
    table.write_text(
        f'\ufeffNote,Path,Latitude,lon\nx,bare.jpg,60.5,-20\n"a, b",{absolute},1,2\n,./gone.jpg,3,4\n', encoding="utf-8"
    )
    done = build_index(folder, out, coordinates=table)
    assert (done.added, done.unchanged, done.unmatched, done.total) == (1, 2, 1, 3)
    found = {match.title: match.point for match in ImageIndex.open(out).find(scene(9).rotate(3))}
    assert found["bare.jpg"] == LatLon(60.5, -20)
    assert found["day1/scene1.jpg"] == LatLon(1, 2)
    assert found["day0/scene0.jpg"] == LatLon(-40, 10)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"path,lat\nx,1\n", "column lon is missing"),
        (b"path,lat,lon\nx,1,2\ny,91,0\n", "line 3"),
        (b"path,lat,lon\nx,1\n", "line 2"),
        (b"path,lat,lon\nx,nan,0\n", "line 2"),
        (b"\xff\xfe\x00", "no CSV"),
        (b"", "column path is missing"),
    ],
)
def test_a_bad_table_is_refused_before_anything_is_written(tmp_path: Path, content: bytes, message: str) -> None:
    save(scene(1), tmp_path / "photos/x.jpg", LatLon(1, 1))
    (tmp_path / "places.csv").write_bytes(content)
    with pytest.raises(BadInput, match=message):
        build_index(tmp_path / "photos", tmp_path / "x.index", coordinates=tmp_path / "places.csv")
    assert not (tmp_path / "x.index").exists()


def test_a_folder_without_photos_does_not_empty_the_index(tmp_path: Path) -> None:
    folder, out = album_in(tmp_path / "photos", 2), tmp_path / "x.index"
    build_index(folder, out)
    for photo in folder.rglob("*.jpg"):
        photo.unlink()
    with pytest.raises(BadInput, match="no photos"):
        build_index(folder, out)
    with pytest.raises(BadInput, match="no such folder"):
        build_index(tmp_path / "nowhere", out)
    assert len(ImageIndex.open(out)) == 2


def damage(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as conn:
        conn.execute(statement)
        conn.commit()


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("PRAGMA user_version = 99", "format 99"),
        ("PRAGMA application_id = 1", "not an index of photos"),
        ("UPDATE photo SET features = x'00'", "damaged"),
        ("UPDATE photo SET lat = 100", "damaged"),
        ("DELETE FROM meta", "damaged"),
        ("DROP TABLE photo", "can't be used"),
        ("UPDATE meta SET value = 'other' WHERE key = 'encoder'", "encoder 'other'"),
    ],
)
def test_what_can_not_be_used_is_refused_in_one_line(tmp_path: Path, made: Path, statement: str, message: str) -> None:
    path = tmp_path / "x.index"
    path.write_bytes((made / "photos.index").read_bytes())
    damage(path, statement)
    with pytest.raises(BadInput, match=message) as caught:
        ImageIndex.open(path)
    assert "\n" not in str(caught.value)


def test_another_file_is_never_written_over(tmp_path: Path) -> None:
    folder = album_in(tmp_path / "photos", 1)
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear all, this is long enough to be something. " * 20)
    before = letter.read_bytes()
    with pytest.raises(BadInput, match=r"letter\.txt"):
        build_index(folder, letter)
    with pytest.raises(BadInput, match=r"letter\.txt"):
        ImageIndex.open(letter)
    with pytest.raises(BadInput, match="does not exist"):
        build_index(folder, tmp_path / "no/such/x.index")
    with pytest.raises(BadInput, match="no index"):
        ImageIndex.open(tmp_path / "gone.index")
    assert letter.read_bytes() == before


def test_other_eyes_need_another_index(tmp_path: Path) -> None:
    from geosleuth.photo.image_encoder import BUNDLED

    folder, out = album_in(tmp_path / "photos", 1), tmp_path / "x.index"
    (tmp_path / "mine.onnx").write_bytes(BUNDLED.read_bytes())
    build_index(folder, out, str(tmp_path / "mine.onnx"))
    with pytest.raises(BadInput, match="mine@"):
        build_index(folder, out)
    (match,) = ImageIndex.open(out).find(scene(0).rotate(2))
    assert match.score > 0.5
    (tmp_path / "mine.onnx").unlink()
    with pytest.raises(BadInput, match=r"mine\.onnx"):
        ImageIndex.open(out)
