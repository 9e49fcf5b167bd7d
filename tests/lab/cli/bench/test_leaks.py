"""What a data set knows about its photos reaches nobody who answers."""

import io
import json
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, TiffImagePlugin
from typer.testing import CliRunner

from geosleuth.cli.commands import whole_app
from geosleuth.tools.similar import build_index
from locating import GEOSLEUTH, environment
from openai_server import Reply, Request, chat_reply, openai_server
from scenery import scene

MARKER = "zzyzxville"
SECRET_LAT, SECRET_LON = "43.7391", "7.4277"
LOOKS_SOUTH_EAST = (
    b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    b'<rdf:Description xmlns:GPano="http://ns.google.com/photos/1.0/panorama/" '
    b'GPano:ProjectionType="equirectangular" GPano:PoseHeadingDegrees="130"/></rdf:RDF></x:xmpmeta>'
)


pytestmark = pytest.mark.usefixtures("atlas_home")


@pytest.fixture
def marked_set(tmp_path: Path) -> Path:
    """Photos whose names, folders, metadata and labels all tell the place; one of them can't be opened."""
    folder = tmp_path / f"photos of {MARKER}"
    folder.mkdir()
    rows = ["image,lat,lon,country,city,note"]
    for number in range(3):
        name = f"{MARKER}-{number}.jpg"
        image = Image.new("RGB", (320, 240), (200, 200, 40 * number))
        ImageDraw.Draw(image).text((20, 100), "BOULANGERIE", fill=(0, 0, 0))
        exif = Image.Exif()
        exif[0x010E] = f"seen in {MARKER}"
        exif[0x013B] = MARKER
        exif.get_ifd(0x8825).update(
            {1: "N", 2: _degrees(43.7391), 3: "E", 4: _degrees(7.4277)},
        )
        exif.get_ifd(0x8769)[0x9286] = b"ASCII\0\0\0" + MARKER.encode()
        image.save(folder / name, exif=exif, comment=MARKER.encode())
        rows.append(f"{name},{SECRET_LAT},{SECRET_LON},{MARKER}land,{MARKER},{MARKER} by night")
    (folder / f"{MARKER}-broken.jpg").write_bytes(b"no photo of " + MARKER.encode())
    rows.append(f"{MARKER}-broken.jpg,{SECRET_LAT},{SECRET_LON},{MARKER}land,{MARKER},{MARKER}")
    table = folder / f"{MARKER}.csv"
    table.write_text("\n".join(rows) + "\n")
    return table


def _degrees(value: float) -> tuple[TiffImagePlugin.IFDRational, ...]:
    return tuple(TiffImagePlugin.IFDRational(round(part * 10000), 10000) for part in (value, 0.0, 0.0))


def _asks_tools_first(request: Request) -> Reply:
    told = [message for message in request.json["messages"] if message["role"] == "tool"]
    if not told:
        handle = re.search(r"\b[a-z]+[-_]?\d+\b", json.dumps(request.json["messages"]))
        assert handle is not None
        return chat_reply("I look closer.", calls=[("maps_geocode", {"address": "Paris"}), ("read_text", {})])
    return chat_reply('{"lat": 48.85, "lon": 2.35, "city": "Paris", "country": "France"}')


def _team(folder: Path, models: Sequence[str], url: str | None = None) -> Path:
    at = "" if url is None else f", base_url: '{url}'"
    agents = "".join(f"  - {{name: agent{number}, model: '{one}'{at}}}\n" for number, one in enumerate(models))
    path = folder / "team.yaml"
    path.write_text(f"name: two\nsettings: {{rounds: 1}}\nagents:\n{agents}")
    return path


def _here(words: list[str]) -> tuple[int, str]:
    result = CliRunner().invoke(whole_app(), words)
    return result.exit_code, result.stdout


def _outside(words: list[str]) -> tuple[int, str]:
    """In a process of its own: Ray takes its settings from the first moment that it is imported."""
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed")
    done = subprocess.run(
        [str(GEOSLEUTH), *words], env=environment(), capture_output=True, text=True, timeout=300, check=False
    )
    return done.returncode, done.stdout or done.stderr


@pytest.mark.parametrize(
    ("who", "more", "minds"),
    [
        ("one", (), 1),
        ("several", ("--parallel", "2", "--verifier", "same"), 2),
        ("team", (), 2),
        pytest.param("one", ("--cluster", "local"), 1, marks=pytest.mark.slow),
    ],
)
def test_no_name_no_metadata_and_no_label_reaches_who_answers(
    marked_set: Path, tmp_path: Path, who: str, more: tuple[str, ...], minds: int
) -> None:
    out = tmp_path / "run"
    with openai_server([_asks_tools_first]) as url:
        model = ["--team", str(_team(tmp_path, ["server:ada", "server:mary"], url))]
        if who != "team":
            model = ["--model", "server:any", "--base-url", str(url)]
        words = ["bench", "run", "--data", str(marked_set), *model, "--yes", "--out", str(out), "--json", *more]
        code, said = (_outside if "--cluster" in more else _here)(words)
    assert code == 1, said
    told = json.loads(said)
    assert (told["answered"], told["errors"]) == (3, 1)
    # The marker is where it belongs, so that the search below can find it at all.
    assert MARKER in (out / "results.jsonl").read_text()
    # Each mind asks the tools, and is told what they say.
    assert len(url.requests) >= 6 * minds
    assert minds > 1 or len(url.requests) == 6
    for request in url.requests:
        assert MARKER not in request.body.decode().casefold()
        assert SECRET_LAT not in request.body.decode()
        for content in request.images:
            assert MARKER.encode() not in content.lower()
            with Image.open(io.BytesIO(content)) as image:
                assert not image.getexif()
    kept = list(_files(out / "trajectories"))
    assert len(kept) == 3 if minds == 1 else len(kept) > 3
    for path in kept:
        assert MARKER not in path.name
        text = path.read_text().casefold()
        assert MARKER not in text
        assert SECRET_LAT not in text


@pytest.mark.parametrize("more", [(), pytest.param(("--mask", "text"), marks=pytest.mark.slow)])
def test_an_index_that_holds_the_photos_tells_nothing_about_them(
    marked_set: Path, tmp_path: Path, more: tuple[str, ...]
) -> None:
    copies, places = tmp_path / "copies", tmp_path / "places.csv"
    copies.mkdir()
    rows = ["path,lat,lon"]
    for photo in sorted(marked_set.parent.glob("*[0-9].jpg")):
        # The same pixels in another file: no hash of a file tells that.
        with Image.open(photo) as image:
            image.convert("RGB").save(copies / f"{photo.stem}.png")
        rows.append(f"{photo.stem}.png,{SECRET_LAT},{SECRET_LON}")
    places.write_text("\n".join(rows) + "\n")
    index = tmp_path / "album.index"
    build_index(copies, index, coordinates=places)

    def searches_first(request: Request) -> Reply:
        asked = any(message["role"] == "tool" for message in request.json["messages"])
        return chat_reply("{}") if asked else chat_reply("I search.", calls=[("search_image", {})])

    out = tmp_path / "run"
    with openai_server([searches_first]) as url:
        result = CliRunner().invoke(
            whole_app(),
            ["bench", "run", "--data", str(marked_set), "--only", f"id={MARKER}-0.jpg",
             "--model", "server:any", "--base-url", str(url),
             "--image-search", str(index), "--tools", "search_image", "--yes", "--out", str(out), "--json", *more],
        )  # fmt: skip
    assert result.exit_code == 0, result.output
    told = url.requests[1].body.decode().casefold()
    assert "identical picture" in told
    (kept,) = _files(out / "trajectories")
    for text in (told, kept.read_text().casefold()):
        # The other two are other photos; this one tells nothing.
        assert f"{MARKER}-0" not in text


@pytest.fixture(scope="module")
def galleries(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A folder with photos of a kind, a table of them, and a gallery that holds them; made once for all."""
    return cache(lambda kind: with_gallery(tmp_path_factory.mktemp(kind), kind))


def with_gallery(folder: Path, kind: str) -> Path:
    boxes = json.dumps([{"kind": "signs", "box": [0.2, 0.2, 0.35, 0.35]}]).replace('"', '""')
    rows = ["id,image,lat,lon,boxes"]
    for number in range(4):
        image = scene(number, (320, 240)) if kind == "photo" else _all_round(scene(number, (600, 600)))
        # The gallery's views begin in the north; those of whoever answers can't.
        image.save(folder / f"{number}.jpg", xmp=b"" if kind == "photo" else LOOKS_SOUTH_EAST)
        rows.append(f'p{number},{number}.jpg,{10 * number},{20 * number},"{boxes}"')
    table = folder / "photos.csv"
    table.write_text("\n".join(rows) + "\n")
    gallery = folder / "gallery"
    made = CliRunner().invoke(
        whole_app(), ["dataset", "gallery", str(table), "--encoder", "bundled", "--out", str(gallery)]
    )
    assert made.exit_code == 0, made.output
    return folder


@pytest.mark.parametrize(
    ("kind", "who", "more"),
    [
        ("photo", "one", ()),
        pytest.param("photo", "one", ("--mask", "signs"), marks=pytest.mark.slow),
        ("photo", "team", ("--mask", "signs")),
        pytest.param("panorama", "one", (), marks=pytest.mark.slow),
    ],
)
def test_a_gallery_that_holds_the_photos_tells_nothing_about_them(
    galleries: Callable[[str], Path], tmp_path: Path, kind: str, who: str, more: tuple[str, ...]
) -> None:
    folder = galleries(kind)
    table, gallery, out = folder / "photos.csv", folder / "gallery", tmp_path / "run"
    models = [f"nearest:{gallery},k={count}" for count in (1, 2)]
    model = ["--model", models[0]] if who == "one" else ["--team", str(_team(tmp_path, models))]
    words = ["bench", "run", "--data", str(table), *model, "--out", str(out), "--json", *more]
    result = CliRunner().invoke(whole_app(), words)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["answered"], told["unlocated"]) == (4, 0)
    assert told["accuracy"]["percent_within_km"]["25"] == 0


def _all_round(half: Image.Image) -> Image.Image:
    """A picture whose edges meet, as a panorama's do."""
    around = Image.new("RGB", (2 * half.width, half.height))
    around.paste(half, (0, 0))
    around.paste(half.transpose(Image.Transpose.FLIP_LEFT_RIGHT), (half.width, 0))
    return around


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def test_the_detective_gets_no_more(marked_set: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    result = CliRunner().invoke(
        whole_app(), ["bench", "run", "--data", str(marked_set), "--limit", "2", "--out", str(out), "--json"]
    )
    assert result.exit_code == 0, result.output
    kept = list(_files(out / "trajectories"))
    assert len(kept) == 2
    for path in kept:
        text = f"{path.name} {path.read_text()}".casefold()
        assert MARKER not in text
        assert SECRET_LAT not in text
