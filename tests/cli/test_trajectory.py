"""``geosleuth trajectory``, run as people run it."""

import asyncio
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from export_runs import detective_run
from geosleuth.agent import Budget, Trajectory, run, write_trajectory
from geosleuth.agent.locate import locate
from geosleuth.agent.methods import method
from geosleuth.agent.setup import AgentSetup, Resources
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.base import base_path
from geosleuth.photo import Album, encode, open_photo
from geosleuth.tools import Case
from geosleuth.tools.toolset import all_tools
from in_process import Done, whole_command
from scenery import save, scene
from scripted import ScriptedPolicy, call, calls, says
from small_runs import small_photo

geosleuth = partial(whole_command, "trajectory")


@pytest.fixture(scope="module")
def photo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(scene(7), tmp_path_factory.mktemp("photos") / "photo.jpg")


@pytest.fixture(scope="module", autouse=True)
def _home_with_atlas(base_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEOSLEUTH_HOME", str(tmp_path_factory.mktemp("home")))
        base_path().parent.mkdir(parents=True, exist_ok=True)
        base_path().symlink_to(base_file)
        yield


@pytest.fixture(scope="module")
def recorded(photo: Path) -> Trajectory:
    """A run of the default method with real tools on the offline atlas."""
    script = [
        calls(
            call("image_zoom_in_tool", bbox_2d=[10, 20, 200, 180]),
            call("note_hypothesis", place="Monaco", confidence=0.7, lat=43.73, lon=7.42),
            text="A harbour and palms.", thinking="Could be the Riviera. " + "Or not. " * 50,
        ),
        calls(call("no_such_tool", x="\x1b[31mred")),
        says('{"format": "geosleuth-answer-1", "lat": 43.73, "lon": 7.42, "probability": 0.6, "radius_km": 5}'),
    ]  # fmt: skip
    album = Album()
    album.add(open_photo(photo).photo)
    chosen = method("default")
    toolset = chosen.toolset(all_tools(), ["image_zoom_in_tool", "note_hypothesis"])
    case = Case(album, OfflineAtlas())
    return asyncio.run(
        run(case, AgentSetup(method=chosen, policy=ScriptedPolicy(script), toolset=toolset, budget=Budget(turns=5)))
    )


@pytest.fixture
def file(recorded: Trajectory, tmp_path: Path) -> Path:
    path = tmp_path / "run.jsonl"
    write_trajectory(path, recorded)
    return path


def test_a_run_is_shown_turn_by_turn(file: Path) -> None:
    shown = geosleuth("show", file)
    assert shown.returncode == 0, shown.stderr
    for words in (
        "method default, scripted", "Could be the Riviera.", "A harbour and palms.", "-> image_zoom_in_tool {",
        "<- image_zoom_in_tool [image-2]", "unknown_tool:", "h1: Monaco, 70%", "43.73000, 7.42000", "60% within 5 km",
        "ended: answered", "spent: 3 turns, 3 calls (1 failed", "candidates",
    ):  # fmt: skip
        assert words in shown.stdout
    assert "\x1b" not in shown.stdout
    assert "characters more" in shown.stdout
    assert "characters more" not in geosleuth("show", file, "--whole").stdout


def test_what_came_of_a_run_is_one_json_document(file: Path, recorded: Trajectory) -> None:
    told: dict[str, Any] = json.loads(geosleuth("show", file, "--json").stdout)
    assert (told["id"], told["method"], told["answered_by"]) == (recorded.id, "default", "policy")
    assert told["events"]["said"] == 3
    assert (told["answer"]["lat"], told["answer"]["lon"]) == (43.73, 7.42)
    assert told["ended"] == {"reason": "answered", "trouble": None}
    assert [one["place"] for one in told["pool"]] == ["Monaco"]
    assert told["spent"]["turns"] == 3


def test_several_runs_become_one_file(file: Path, tmp_path: Path) -> None:
    other, out = tmp_path / "other.jsonl", tmp_path / "out.jsonl"
    write_trajectory(other, detective_run())
    done = geosleuth("export", file, other, "--to", "openai", "--out", out)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "wrote 2 records" in done.stderr
    first, second = out.read_text(encoding="utf-8").splitlines()
    assert "A harbour and palms." in first
    assert "Compare rivals first" in second


def test_images_are_written_where_the_export_looks_for_them(file: Path, photo: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    done = geosleuth("export", file, "--to", "ms-swift", "--out", out, "--photo", photo)
    assert done.returncode == 0, done.stderr
    record = json.loads(out.read_text(encoding="utf-8"))
    assert len(record["images"]) == 2
    assert all((tmp_path / path).is_file() for path in record["images"])
    elsewhere = tmp_path / "media"
    words = ("export", file, "--to", "ms-swift", "--out", out, "--photo", photo, "--images", elsewhere)
    refused(geosleuth(*words), "out.jsonl: is there already; choose another name, or add --overwrite")
    assert not elsewhere.exists()
    assert geosleuth(*words, "--overwrite").returncode == 0
    assert all((elsewhere / path).is_file() for path in record["images"])


def test_a_replay_is_the_same_with_recorded_results_and_with_live_tools(file: Path, photo: Path) -> None:
    done = geosleuth("replay", file)
    assert (done.returncode, done.stdout.split(":")[0]) == (0, "the same"), done.stderr
    live = geosleuth("replay", file, "--photo", photo, "--json")
    assert live.returncode == 0, live.stderr
    told = json.loads(live.stdout)
    assert (told["same"], told["tools"], told["difference"]) == (True, "live", None)


def test_a_run_that_the_loop_would_not_make_is_told(file: Path, tmp_path: Path) -> None:
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    other = tmp_path / "other.jsonl"
    other.write_text("".join(line.replace('"reason":"answered"', '"reason":"stuck"') for line in lines))
    done = geosleuth("replay", other)
    assert done.returncode == 1
    assert "not the same: event" in done.stdout
    assert json.loads(geosleuth("replay", other, "--json").stdout)["same"] is False


def refused(done: Done, words: str) -> None:
    assert done.returncode == 2
    assert done.stdout == ""
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_what_cannot_be_done_is_told_in_one_line(file: Path, photo: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    wrong = save(scene(3, (300, 300)), tmp_path / "wrong.jpg")
    refused(geosleuth("replay", file, "--photo", wrong), "these are not the photos of this run")
    refused(geosleuth("export", file, "--to", "trl", "--out", out, "--photo", wrong), "give the same photos")
    refused(geosleuth("export", file, file, "--to", "trl", "--out", out, "--photo", photo), "photos belong to one run")
    refused(geosleuth("export", file, "--to", "trl", "--out", out, "--images", tmp_path), "needs the photos")
    refused(geosleuth("export", file, "--to", "trl", "--out", file), "is one of the trajectories")
    assert not out.exists()
    small = tmp_path / "small.jsonl"
    write_trajectory(small, detective_run())
    refused(geosleuth("replay", small), "the method 'small', which can't be replayed here")


@pytest.mark.parametrize("heading", [60, pytest.param(None, marks=pytest.mark.slow)])
def test_a_panorama_is_replayed_and_exported_with_its_photo(heading: int | None, tmp_path: Path) -> None:
    half = scene(5, (600, 600))
    around = Image.new("RGB", (1200, 600))
    around.paste(half, (0, 0))
    around.paste(half.transpose(Image.Transpose.FLIP_LEFT_RIGHT), (600, 0))
    xmp = (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description xmlns:GPano="http://ns.google.com/photos/1.0/panorama/" '
        f'GPano:ProjectionType="equirectangular" GPano:PoseHeadingDegrees="{heading}"/></rdf:RDF></x:xmpmeta>'
    )
    photo, file, out = tmp_path / "around.jpg", tmp_path / "run.jsonl", tmp_path / "out.jsonl"
    if heading is None:
        around.save(photo, quality=95)
    else:
        around.save(photo, quality=95, xmp=xmp.encode())
    chosen = method("default")
    script = [
        calls(call("image_zoom_in_tool", bbox_2d=[10, 20, 200, 180], image="image-3")),
        says('{"lat": 1, "lon": 2}'),
    ]
    finding = asyncio.run(
        locate(
            [open_photo(photo)],
            AgentSetup(
                method=chosen,
                policy=ScriptedPolicy(script),
                toolset=chosen.toolset(all_tools(), ["image_zoom_in_tool"]),
            ),
            Resources(OfflineAtlas()),
        )
    )
    write_trajectory(file, finding.trajectory)
    live = geosleuth("replay", file, "--photo", photo)
    assert (live.returncode, live.stdout.split(":")[0]) == (0, "the same"), live.stderr
    done = geosleuth("export", file, "--to", "ms-swift", "--out", out, "--photo", photo)
    assert done.returncode == 0, done.stderr
    images = [tmp_path / path for path in json.loads(out.read_text(encoding="utf-8"))["images"]]
    assert len(images) == 7
    assert finding.album is not None
    assert [path.read_bytes() for path in images] == [encode(finding.album[handle]) for handle in finding.album.handles]


def test_another_version_is_refused_by_every_command(file: Path, tmp_path: Path) -> None:
    newer = tmp_path / "newer.jsonl"
    newer.write_bytes(file.read_bytes().replace(b'"version":1', b'"version":2', 1))
    words = "of version 2, written by geosleuth"
    refused(geosleuth("show", newer), words)
    refused(geosleuth("replay", newer), words)
    refused(geosleuth("export", newer, "--to", "trl", "--out", tmp_path / "x.jsonl"), words)
    assert not (tmp_path / "x.jsonl").exists()


def test_a_torn_file_is_shown_as_far_as_it_goes(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-20])
    shown = geosleuth("show", file)
    assert shown.returncode == 0
    assert "It ends here unfinished" in shown.stdout
    assert "ends in the middle of a line" in shown.stderr


def test_the_small_photo_is_what_the_detective_saw() -> None:
    assert small_photo().size == detective_run().task.images[0].size
