"""Screenshots, documents and drawings are told from photographs, and left out of a folder."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from PIL import Image

import geosleuth
from geosleuth.photo import open_photo
from geosleuth.photo.nature import add_nature_verdict, get_nature, judge
from geosleuth.pipeline.result import LocateResult
from geosleuth.report import report_html
from in_process import whole_command
from signs import camera_exif

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
from made_pictures import document, drawing  # noqa: E402

SHARED = Path(os.environ.get("GEOSLEUTH_SHARED", "")) / "data" / "photos"


def opened(data: bytes) -> Image.Image:
    return Image.open(BytesIO(data)).convert("RGB")


@pytest.mark.parametrize(("kind", "maker"), [("document", document), ("drawing", drawing)])
def test_made_pictures_are_no_photographs(kind: str, maker: Callable[[int], bytes]) -> None:
    # Other seeds than the model was fitted to.
    natures = [judge(opened(maker(seed))).nature for seed in range(900, 910)]
    assert sum(one != "photo" for one in natures) >= 9, natures
    assert natures.count(kind) >= 8, natures  # type: ignore[arg-type]


def test_photographs_are_photographs() -> None:
    for name in ("shop-front.jpg", "way-sign.jpg"):
        assert get_nature(open_photo(ROOT / "examples" / "photos" / name)) == "photo"


@pytest.fixture
def shared() -> list[Path]:
    found = sorted(SHARED.glob("puzzles/*.jpg"))[:30]
    if not found:
        pytest.skip("the shared photos are not here: set GEOSLEUTH_SHARED")
    return found


def test_real_street_photos_stay_photographs_and_take_little_time(shared: list[Path]) -> None:
    images = [open_photo(path).photo.image for path in shared]
    began = [time.process_time()]
    natures = []
    for image in images:
        natures.append(judge(image).nature)
        began.append(time.process_time())
    assert natures.count("photo") >= len(shared) - 1, natures
    assert median(np.diff(began)) < 0.06, "under 30 ms on a machine at rest"


def test_judges_a_picture_once() -> None:
    first = add_nature_verdict(open_photo(document(3), name="page.png"))
    assert first.is_judged
    assert add_nature_verdict(first) is first


def test_odd_sizes_and_plain_pictures_are_judged() -> None:
    for size in ((1, 1), (5000, 2), (47, 300)):
        for colour in ("black", "white", "red"):
            assert judge(Image.new("RGB", size, colour)).unlike_photo >= 0.0


def test_a_camera_is_believed() -> None:
    page, out = opened(document(901)), BytesIO()
    page.save(out, "JPEG")
    assert get_nature(open_photo(out.getvalue())) != "photo"
    page.save(out := BytesIO(), "JPEG", exif=camera_exif())
    assert get_nature(open_photo(out.getvalue())) == "photo"


@pytest.mark.slow
@pytest.mark.usefixtures("atlas_home")
def test_a_folder_leaves_them_out_and_a_name_does_not(tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    page = folder / "page.png"
    opened(document(902)).save(page)
    done = whole_command("locate", folder, "--offline", "--json", "--out", f"{tmp_path / 'run'}/", "--sidecars")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["photos"]
    assert (row["name"], row["status"]) == ("page.png", "unlocated")
    assert row["nature"] in ("document", "screenshot")
    assert row["note"].startswith(f"looks like a {row['nature']}, not a photograph: left out")
    assert "answer" not in row
    assert list(folder.iterdir()) == [page], "nothing is written beside it"
    alone = whole_command("locate", page, "--offline", "--json")
    assert alone.returncode == 0, alone.stderr
    assert f"page.png: looks like a {row['nature']}, not a photograph" in alone.stderr.splitlines()[0]
    told = json.loads(alone.stdout)
    assert told["photos"][0]["not_a_photo"] == row["nature"]
    assert [one["kind"] for one in told["doubts"]] == ["not_a_photo"]
    many = geosleuth.locate_many(folder, model="none", offline=True, progress=False)
    assert (len(many), list(many.failed)) == (0, [page])


@pytest.mark.usefixtures("atlas_home")
def test_a_finding_says_which_of_its_pictures_are_no_photographs(tmp_path: Path) -> None:
    page, photo = tmp_path / "page.png", ROOT / "examples" / "photos" / "shop-front.jpg"
    opened(document(903)).save(page)
    asked = {"model": "none", "offline": True}
    (alone,) = geosleuth.locate([page], **asked)
    together = geosleuth.locate([photo, page], same_place=True, **asked)
    nature = alone.claims[0].not_a_photo
    assert nature in ("document", "screenshot")
    words = f"looks like a {nature}, not a photograph."
    assert str(alone.doubts[0]) == f"What it shows may lie elsewhere, or nowhere: it {words}"
    assert str(together.doubts[0]).endswith(f": photo 2 {words}")
    assert together.claims[0].not_a_photo is None
    assert words in alone._repr_html_()
    assert words in report_html_of(alone)


def report_html_of(finding: LocateResult) -> str:
    return asyncio.run(report_html(finding))
