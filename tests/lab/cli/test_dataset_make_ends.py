"""A rating that is killed or stopped goes on where it was: what was paid for is never asked again."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from foreground import hear_ctrl_c
from geosleuth.lab.bench.sets import open_set
from maker_sets import photo_table
from openai_server import ServerUrl, chat_reply, openai_server

PHOTOS = 10
REPLY = '{"locatability": 6, "landmark": null}'
COMMAND = "from geosleuth.cli import main; main()"


def _rating(folder: Path, url: str, home: Path) -> "subprocess.Popen[str]":
    words = ["dataset", "rate", str(folder / "set.csv"), "--out", str(folder / "rated.csv"), "--yes", "--jobs", "1"]
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *words, "--model", "server:any", "--base-url", url],
        env={**os.environ, "GEOSLEUTH_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=hear_ctrl_c,  # noqa: PLW1509  (one call, before any other)
        text=True,
    )


def _end_after(process: "subprocess.Popen[str]", url: ServerUrl, asked: int, how: signal.Signals) -> tuple[int, str]:
    while len(url.requests) < asked and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(how)
    _, told = process.communicate(timeout=60)
    return process.returncode, told


@pytest.mark.slow
def test_a_killed_and_a_stopped_rating_go_on(tmp_path: Path) -> None:
    folder, home = tmp_path / "set", tmp_path / "home"
    photo_table(folder, [(0.0, 0.0)] * PHOTOS)
    with openai_server([chat_reply(REPLY, delay_s=0.1)]) as url:
        code, _ = _end_after(_rating(folder, url, home), url, 3, signal.SIGKILL)
        assert code == -signal.SIGKILL
        code, told = _end_after(_rating(folder, url, home), url, 6, signal.SIGINT)
        assert (code, "kept; run the same command to resume" in told) == (130, True)
        # Half a table is no table, and nothing is left lying about.
        assert sorted(path.name for path in folder.iterdir() if path.suffix != ".part") == ["photos", "set.csv"]
        out, told = _rating(folder, url, home).communicate(timeout=60)
        assert "6-7" in out, told
        times = Counter(request.images[0] for request in url.requests)
    # Only what was under way when it was cut off is asked a second time.
    assert len(times) == PHOTOS
    assert sum(times.values()) <= PHOTOS + 2
    assert [item.fields["locatability"] for item in open_set(str(folder / "rated.csv"))] == ["6"] * PHOTOS
