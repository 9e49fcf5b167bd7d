"""The factory on the machinery of runs: taken up again, in several processes, into a store, always the same bytes."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import factory_runs
from factory_runs import contents, hand_work
from factory_scenes import plain_picture, scene_of
from geosleuth.agent import read_trajectory
from geosleuth.agent.methods import method
from geosleuth.agent.policy_card import card_of_run
from geosleuth.agent.prompt_files import read_prompts
from geosleuth.atlas import OfflineAtlas
from geosleuth.lab.bench.run import RunLimits
from geosleuth.lab.traces import About, Rejected, Sample, write_store
from geosleuth.lab.traces.factory import (
    Kind,
    compute_tally,
    list_kept_files,
    read_made,
    read_photo,
    replays,
    run_factory,
)
from geosleuth.lab.traces.factory.trial import load_drawn, pack_scene, unpack
from geosleuth.lab.traces.scripted import NO_SLIPS
from geosleuth.photo import open_photo
from geosleuth.support.errors import BadInput
from in_process import geosleuth
from python_path import python_path

SCENES = 8


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nobody disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    ending = asyncio.run(run_factory(hand_work(folder / "set", SCENES), folder / "run"))
    assert ending.why == "done"
    return folder / "run"


@pytest.mark.slow
def test_everything_that_was_made_is_handed_on_in_order(whole: Path) -> None:
    made = list(read_made(whole))
    assert [one.scene for one in made] == [f"hand-{number}" for number in range(1, SCENES + 1)]
    kept = [one for one in made if isinstance(one, Sample)]
    gone = [one for one in made if isinstance(one, Rejected)]
    assert kept
    assert gone, "with these seeds some slip leads to a rejection"
    for sample in kept:
        assert sample.source == "spotagent"
        assert set(sample.images) == {image.handle for image in sample.trajectory.images}
        assert sample.truth is not None
        assert sample.truth.city == "Soest"
        for image in sample.trajectory.images:
            assert open_photo(sample.images[image.handle]).photo.size == image.size
    assert all(one.reason in ("far_answer", "invalid_call", "failed_call", "no_answer") for one in gone)
    tally = compute_tally(whole)
    assert (tally.made, tally.kept) == (SCENES, len(kept))


def test_what_is_kept_replays(whole: Path, atlas: OfflineAtlas) -> None:
    files = list(list_kept_files(whole))
    for path in files[:2]:
        assert asyncio.run(replays(read_trajectory(path), open_photo(read_photo(path)), atlas))


def test_a_run_that_is_stopped_and_taken_up_again_holds_the_same_bytes(whole: Path, tmp_path: Path) -> None:
    work = hand_work(tmp_path / "set", SCENES)
    first = asyncio.run(run_factory(work, tmp_path / "run", limits=RunLimits(photos=3)))
    assert first.why == "photos"
    assert first.progress.done == 3
    assert asyncio.run(run_factory(work, tmp_path / "run")).why == "done"
    assert contents(tmp_path / "run") == contents(whole)


@pytest.mark.slow
def test_a_run_that_is_killed_and_taken_up_again_holds_the_same(whole: Path, tmp_path: Path) -> None:
    command = [sys.executable, factory_runs.__file__, str(tmp_path / "set"), str(tmp_path / "run"), str(SCENES)]
    journal = tmp_path / "run" / "journal.jsonl"
    child = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": python_path(Path(factory_runs.__file__).parent)})
    try:
        deadline = time.monotonic() + 120
        while not (journal.exists() and journal.read_bytes().count(b"\n") > 2):
            assert child.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert asyncio.run(run_factory(hand_work(tmp_path / "set", SCENES), tmp_path / "run")).why == "done"
    # A try that was cut off is made again under the next number; what came of each scene is the same.
    assert [repr(one) for one in read_made(tmp_path / "run")] == [repr(one) for one in read_made(whole)]
    about = About(name="a", title="a", licence="a", how_made="a")
    stores = [
        write_store(tmp_path / name, read_made(run), about) for name, run in (("x", whole), ("y", tmp_path / "run"))
    ]
    assert list(stores[0].rows()) == list(stores[1].rows())


@pytest.mark.slow
def test_several_processes_make_the_same_bytes(whole: Path, tmp_path: Path) -> None:
    ending = asyncio.run(run_factory(hand_work(tmp_path / "set", SCENES, processes=2), tmp_path / "run"))
    assert ending.why == "done"
    assert contents(tmp_path / "run") == contents(whole)


def test_other_settings_are_another_run(whole: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="begun with other settings"):
        asyncio.run(run_factory(hand_work(tmp_path / "set", SCENES, "geoagent"), whole))


def test_a_run_without_its_files_says_so(whole: Path, tmp_path: Path) -> None:
    asyncio.run(run_factory(hand_work(tmp_path / "set", 1, "geoagent"), tmp_path / "run"))
    meta = next((tmp_path / "run" / "trajectories").glob("*/*.meta.json"))
    meta.write_text(json.dumps({"scene": 1}))
    with pytest.raises(BadInput, match="make the run again"):
        list(read_made(tmp_path / "run"))
    assert whole.is_dir()


def test_a_scene_travels_with_or_without_its_picture() -> None:
    scene, marks = scene_of()
    drawn = load_drawn(pack_scene(scene, marks, b"\xff\xd8\xff picture\nwith lines"))
    assert (drawn.scene, drawn.marks, drawn.jpeg) == (scene, marks, b"\xff\xd8\xff picture\nwith lines")
    with pytest.raises(BadInput):
        unpack(b"no JSON\n")


@pytest.mark.parametrize("kind", ["spotagent", "geovista", "geoagent"])
def test_words_of_the_users_own_reach_every_synthesis(tmp_path: Path, atlas: OfflineAtlas, kind: Kind) -> None:
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "system.txt").write_text("Mind the kerbs.\n\n{{own}}")
    words = read_prompts(tmp_path / "words", kind)
    plain = hand_work(tmp_path / "set", 1, kind)
    work = replace(plain, recipe=replace(plain.recipe, slips=NO_SLIPS, prompts=words))
    asyncio.run(run_factory(work, tmp_path / "run"))
    (made,) = read_made(tmp_path / "run")
    assert isinstance(made, Sample)
    began = made.trajectory.started
    assert (began.prompts, began.system.split("\n")[0]) == (words.sha256, "Mind the kerbs.")
    settings = json.loads((tmp_path / "run" / "manifest.json").read_text())["settings"]
    assert settings["prompts"] == words.sha256
    assert "Mind the kerbs" not in json.dumps(settings)
    card = card_of_run(began, "native", tmp_path / "words")
    assert card is not None
    assert card.tools == method(kind).tools
    if kind == "spotagent":
        assert asyncio.run(replays(made.trajectory, open_photo(plain_picture(*scene_of(1))), atlas))


@pytest.mark.parametrize("kind", ["spotagent", "geovista", "geoagent"])
def test_a_folder_without_words_for_a_synthesis_is_refused(tmp_path: Path, kind: str) -> None:
    done = geosleuth("traces", kind, "--count", "1", "--prompts", tmp_path, "--out", tmp_path / "run")
    assert done.returncode == 2
    assert f"no words for the method {kind}" in done.stderr
    assert not (tmp_path / "run").exists()
