"""``geosleuth tools``, run as people run it."""

import json
from pathlib import Path

import pytest
from PIL import Image

from geosleuth.tools.toolset import all_tools
from in_process import whole_command

geosleuth = whole_command


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    image = Image.new("RGB", (400, 300), "white")
    image.paste((200, 30, 30), (100, 50, 200, 100))
    path = tmp_path / "photo.png"
    image.save(path)
    return path


def test_every_tool_is_listed_with_its_arguments() -> None:
    listed = json.loads(geosleuth("tools", "list", "--json").stdout)
    assert [one["name"] for one in listed] == list(all_tools().names)
    zoom = next(one for one in listed if one["name"] == "image_zoom_in_tool")
    assert zoom["parameters"]["required"] == ["bbox_2d"]
    assert "image_zoom_tool" in zoom["aliases"]
    shown = geosleuth("tools", "list").stdout
    for tool in all_tools():
        assert tool.name in shown
    assert "bbox_2d [image]" in shown


def test_the_surfaces_describe_the_same_tools() -> None:
    native = json.loads(geosleuth("tools", "schema").stdout)
    tagged = geosleuth("tools", "schema", "--surface", "tagged").stdout.splitlines()
    mcp = json.loads(geosleuth("tools", "schema", "--surface", "mcp").stdout)
    assert [one["function"]["name"] for one in native] == list(all_tools().names)
    assert [json.loads(line) for line in tagged[1:-1]] == native
    assert [one["inputSchema"] for one in mcp] == [one["function"]["parameters"] for one in native]


def test_only_some_tools_are_described_when_named() -> None:
    (one,) = json.loads(geosleuth("tools", "schema", "image_zoom_tool").stdout)
    assert one["function"]["name"] == "image_zoom_in_tool"
    done = geosleuth("tools", "schema", "fly")
    assert done.returncode == 2
    assert "there is no tool 'fly'" in done.stderr


@pytest.mark.usefixtures("atlas_home")
def test_a_photo_is_zoomed_into_and_the_cut_saved(photo: Path, tmp_path: Path) -> None:
    out = tmp_path / "cuts"
    out.mkdir()
    words = ("tools", "run", "image_zoom_in_tool", '{"bbox_2d": [100, 50, 200, 100]}', "--photo", str(photo))
    seen = json.loads(geosleuth(*words, "--out", str(out), "--json").stdout)
    assert seen["failure"] is None
    assert seen["sources"] == ["photo"]
    assert [image["handle"] for image in seen["images"]] == ["image-2"]
    assert seen["files"] == [str(out / "image-2.png")]
    cut = Image.open(out / "image-2.png")
    assert cut.size == (800, 400)
    assert cut.getpixel((400, 200)) == (200, 30, 30)

    done = geosleuth(*words)
    assert "image-2 (800 x 400 pixels)" in done.stdout
    assert "--out FOLDER saves it" in done.stderr
    assert sorted(path.name for path in out.iterdir()) == ["image-2.png"]


@pytest.mark.usefixtures("atlas_home")
def test_no_picture_is_replaced_without_being_told_to(photo: Path, tmp_path: Path) -> None:
    (tmp_path / "image-2.png").write_bytes(b"mine")
    words = ("tools", "run", "zoom", '{"bbox_2d": [100, 50, 200, 100]}', "--photo", str(photo), "--out", str(tmp_path))
    done = geosleuth(*words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "image-2.png: is there already" in done.stderr
    assert "--overwrite" in done.stderr
    assert (tmp_path / "image-2.png").read_bytes() == b"mine"
    assert geosleuth(*words, "--overwrite").returncode == 0
    with Image.open(tmp_path / "image-2.png") as cut:
        assert cut.size == (800, 400)


@pytest.mark.usefixtures("atlas_home")
def test_a_tool_without_a_photo_answers_from_the_offline_atlas() -> None:
    done = geosleuth("tools", "run", "maps_geocode", '{"address": "Monaco"}')
    assert done.returncode == 0
    assert "Monaco" in done.stdout


@pytest.mark.usefixtures("atlas_home")
@pytest.mark.parametrize(
    ("words", "trouble"),
    [
        (("fly",), "there is no tool 'fly'"),
        (("image_zoom_in_tool", "{"), "not valid JSON"),
        (("image_zoom_in_tool", "{}"), "bbox_2d is missing"),
        (("image_zoom_in_tool", '{"bbox_2d": [0, 0, 9, 9]}', "--photo", "nowhere.jpg"), "nowhere.jpg"),
        (("image_zoom_in_tool", '{"bbox_2d": [0, 0, 9, 9]}', "--out", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_code_two(words: tuple[str, ...], trouble: str) -> None:
    done = geosleuth("tools", "run", *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert trouble in done.stderr


@pytest.mark.usefixtures("atlas_home")
def test_a_failure_as_json_is_the_observation() -> None:
    done = geosleuth("tools", "run", "image_zoom_in_tool", "{}", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["failure"] == "bad_arguments"
    assert done.stderr == ""
