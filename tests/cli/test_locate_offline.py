"""``geosleuth locate --offline``: not one socket; a Python that denies them all runs it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from geosleuth.agent import read_trajectory
from later import later
from locating import ANSWER, FINAL, ZOOM, at, locate_here, locate_outside, photo_file
from no_sockets import kernel_can_watch, no_sockets, tries
from openai_server import chat_reply, openai_server

later("pydantic_ai")
pytestmark = pytest.mark.usefixtures("atlas_home")

EVERY_KIND = [
    ("read_text", {"bbox_2d": [0, 0, 200, 120]}),
    ("maps_geocode", {"address": "Monaco"}),
    ("search_documents", {"query": "Monaco"}),
    ("country_facts", {"country": "Monaco"}),
    ("static_map_query", {"centre": "43.7354,7.4211", "zoom": 9}),
    ("brand_lookup", {"name": "Monoprix"}),
    ("text_clues", {"text": "Tel. +377 93 15 22 22"}),
    ("note_hypothesis", {"place": "Monaco", "confidence": 0.5}),
]


@pytest.fixture
def watched(tmp_path: Path) -> Path:
    folder = tmp_path / "watched"
    folder.mkdir()
    return folder


def python(watched: Path, code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **no_sockets(watched)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("code", "event"),
    [
        ("import socket; socket.socket()", "socket.__new__"),
        ("import socket; socket.getaddrinfo('example.org', 80)", "socket.getaddrinfo"),
        ("import socket; socket.gethostbyname('localhost')", "socket.gethostbyname"),
        ("import socket; socket.socket(socket.AF_UNIX).connect('/tmp/nobody')", "socket.connect"),
        ("import urllib.request as u; u.urlopen('http://127.0.0.1:9/')", "socket.getaddrinfo"),
    ],
)
def test_the_watch_sees_what_it_must(watched: Path, code: str, event: str) -> None:
    assert python(watched, code).returncode != 0
    assert tries(watched).startswith(event)


@pytest.mark.skipif(not kernel_can_watch(), reason="no filter is known for this kernel and processor")
def test_the_kernel_sees_what_python_does_not(watched: Path) -> None:
    inet = "import ctypes; ctypes.CDLL(None).socket(2, 1, 0); print('not stopped')"
    done = python(watched, inet)
    assert (done.returncode, done.stdout) == (-signal.SIGSYS, "")
    assert python(watched, inet.replace("(2,", "(1,")).stdout == "not stopped\n"


def test_a_recording_is_played_with_every_kind_of_tool_and_no_socket(tmp_path: Path, watched: Path) -> None:
    photo, kept, again = photo_file(tmp_path), tmp_path / "run.jsonl", tmp_path / "again.jsonl"
    with openai_server([ZOOM, chat_reply("All at once.", EVERY_KIND), FINAL]) as url:
        assert locate_here(photo, *at(url), "--trajectory", kept).code == 0
    done = locate_outside(
        photo, "--model", f"replay:{kept}", "--offline", "--trajectory", again, env=no_sockets(watched)
    )
    assert tries(watched) == ""
    assert done.code == 0, done.err
    assert "43.735, 7.421" in done.out
    seen = read_trajectory(again).observations
    assert [one.name for one in seen] == ["image_zoom_in_tool", *(name for name, _ in EVERY_KIND)]
    assert [one.failure for one in seen] == [None] * (1 + len(EVERY_KIND))
    # Nothing but our own lines: no warnings of the libraries that read and draw.
    assert all(line.startswith(("turn ", "  ")) for line in done.err.splitlines()), done.err


@pytest.mark.slow
def test_weights_on_disk_work_without_a_socket(tmp_path: Path, watched: Path) -> None:
    pytest.importorskip("transformers")
    from tiny_vlm import tiny_vlm_folder

    kept = tmp_path / "run.jsonl"
    done = locate_outside(
        photo_file(tmp_path), "--model", f"hf:{tiny_vlm_folder()}", "--offline", "--method", "geoagent",
        "--reply-tokens", 24, "--seed", 1, "--trajectory", kept, "--json", env=no_sockets(watched),
    )  # fmt: skip
    assert tries(watched) == ""
    assert done.code == 0, done.err
    found = done.document
    assert found["model"] == "hf:tiny-qwen3-vl"
    # A model of noise: what matters is that it looked at the photo and spoke.
    assert found["spent"]["input_tokens"] > 100
    assert 0 < found["spent"]["output_tokens"] <= 24
    assert found["spent"]["usd"] == 0
    assert read_trajectory(kept).ended is not None
    assert done.err.splitlines()[0] == "hf:tiny-qwen3-vl keeps the photo on this machine"
    assert all(line.startswith(("hf:", "turn ", "  ")) for line in done.err.splitlines()), done.err


def test_even_this_machines_own_servers_are_out_of_reach(tmp_path: Path, watched: Path) -> None:
    with openai_server([FINAL]) as url:
        done = locate_outside(photo_file(tmp_path), *at(url), "--offline", env=no_sockets(watched))
    assert "--offline rules out" in done.refusal
    assert (url.requests, tries(watched)) == ([], "")


@pytest.mark.slow
def test_a_replay_does_not_need_the_packages_that_reach_out(tmp_path: Path, watched: Path) -> None:
    kept = tmp_path / "run.jsonl"
    with openai_server([FINAL]) as url:
        locate_here(photo_file(tmp_path), *at(url), "--tools", "none", "--trajectory", kept)
    env = no_sockets(watched)
    with (watched / "sitecustomize.py").open("a", encoding="utf-8") as hook:
        hook.write("sys.modules.update(dict.fromkeys(('pydantic_ai', 'openai', 'torch', 'mcp')))\n")
    done = locate_outside(tmp_path / "telling-name.jpg", "--model", f"replay:{kept}", "--offline", "--json", env=env)
    assert done.code == 0, done.err
    assert done.document["answer"] == ANSWER
