"""How ``geosleuth locate`` ends when somebody stops it."""

import signal
import time
from pathlib import Path

import pytest

from foreground import started, wait_for
from geosleuth.agent import Trajectory, read_trajectory
from later import later
from locating import FINAL, ZOOM, at, command, photo_file
from openai_server import Reply, ServerUrl, chat_reply, openai_server

later("pydantic_ai")
pytestmark = pytest.mark.usefixtures("atlas_home")

SILENT = Reply(manner="silent")


def interrupted(tmp_path: Path, url: ServerUrl, requests: int, *more: object) -> tuple[int, str, str]:
    with started(command(photo_file(tmp_path), *at(url), *more)) as process:
        wait_for(url, requests)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        return process.returncode, out, err


def closed_as_cancelled(path: Path) -> Trajectory:
    found = read_trajectory(path)
    assert not found.torn
    assert found.ended is not None
    assert found.ended.reason == "cancelled"
    assert found.answered is not None
    return found


def test_ctrl_c_while_the_model_thinks_leaves_a_whole_trajectory(tmp_path: Path) -> None:
    note = chat_reply("Noted.", [("note_hypothesis", {"place": "Monaco", "confidence": 0.6})])
    kept = tmp_path / "run.jsonl"
    with openai_server([ZOOM, note, SILENT]) as url:
        code, out, err = interrupted(tmp_path, url, 3, "--trajectory", kept)
    assert (code, out) == (130, "")
    assert "Traceback" not in err
    assert err.splitlines()[-1] == f"stopped; {kept} holds what was done until then"
    found = closed_as_cancelled(kept)
    assert [one.name for one in found.observations] == ["image_zoom_in_tool", "note_hypothesis"]
    assert found.answer is not None
    assert found.answer.address.country.conclusion == "Monaco"


@pytest.mark.slow
def test_ctrl_c_in_a_batch_says_how_to_go_on_and_what_was_kept(tmp_path: Path) -> None:
    photos = [photo_file(tmp_path, name) for name in ("1.jpg", "2.png")]
    words = ("--tools", "none", "--jobs", "1", "--out", f"{tmp_path / 'findings'}/")
    with openai_server([FINAL, SILENT, FINAL]) as url:
        with started(command(*photos, *at(url), *words)) as process:
            wait_for(url, 2)
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30)
        assert process.returncode == 130
        assert err.splitlines()[-1] == "stopped; what is finished is kept; run the same command again to go on"
        with started(command(*photos, tmp_path / "gone.jpg", *at(url), *words)) as process:
            _, err = process.communicate(timeout=60)
    assert any(
        line.startswith(f"1/3 {photos[0]}: ") and line.endswith(" (kept from before)") for line in err.splitlines()
    )
    assert "2 of 3 found, 1 failed, 1 kept from before; leads, not verdicts" in err
    # A missing photo of a batch is told in the words of a single one.
    assert f"{tmp_path / 'gone.jpg'}: there is no such file; check the path" in err


@pytest.mark.slow
def test_ctrl_c_before_the_first_word(tmp_path: Path) -> None:
    kept = tmp_path / "run.jsonl"
    with openai_server([SILENT]) as url:
        code, out, err = interrupted(tmp_path, url, 1, "--json", "--trajectory", kept)
    assert (code, out) == (130, "")
    assert "Traceback" not in err
    assert closed_as_cancelled(kept).spent.turns == 0


@pytest.mark.slow
def test_ctrl_c_without_a_trajectory_says_nothing_more(tmp_path: Path) -> None:
    with openai_server([SILENT]) as url:
        code, _, err = interrupted(tmp_path, url, 1, "--tools", "none")
    assert code == 130
    assert err.count("\n") == 1
    assert "Traceback" not in err


@pytest.mark.slow
def test_a_parent_that_ignores_ctrl_c_has_it_ignored(tmp_path: Path) -> None:
    slow = chat_reply(FINAL_TEXT, delay_s=1.5)
    words = command(photo_file(tmp_path), *at("URL"), "--tools", "none")
    with openai_server([slow]) as url:
        line = " ".join(f"'{word}'" for word in words).replace("URL", url)
        with started(["sh", "-c", f"trap '' INT; exec {line}"]) as process:
            wait_for(url, 1)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert "43.73540" in out


FINAL_TEXT = '{"lat": 43.7354, "lon": 7.4211, "country": "Monaco"}'


@pytest.mark.slow
def test_a_run_that_is_killed_can_still_be_read(tmp_path: Path) -> None:
    kept = tmp_path / "run.jsonl"
    words = (photo_file(tmp_path), "--trajectory", kept)
    with openai_server([ZOOM, SILENT, FINAL]) as url, started(command(*words, *at(url))) as process:
        wait_for(url, 2)
        process.kill()
        process.wait(30)
    found = read_trajectory(kept)
    assert found.ended is None
    assert [one.name for one in found.observations] == ["image_zoom_in_tool"]
