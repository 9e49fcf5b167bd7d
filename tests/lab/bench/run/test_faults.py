"""What disks, people and power cuts do to a run: full, read-only, torn, damaged, stopped; nothing done is lost."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bench_child import Options, make_photos, work
from bench_mounts import CHILD, in_own_mounts
from geosleuth.lab.bench.run import RunFolder
from geosleuth.support.errors import BadInput


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_photos(tmp_path_factory.mktemp("made") / "photos", 60)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, photos: Path) -> bytes:
    """The results of a run that nothing happened to."""
    run = tmp_path_factory.mktemp("whole") / "run"
    work(photos, run)
    return (run / "results.jsonl").read_bytes()


def counts(run: Path) -> dict[str, int]:
    with RunFolder.read(run) as folder:
        answered = [one.id for one in folder.tries() if one.outcome == "answered"]
        return {"answered": len(answered), "different": len(set(answered)), "tries": folder.index.tries}


def child(photos: Path, run: Path, **options: Any) -> list[str]:
    return [sys.executable, str(CHILD), str(photos), str(run), json.dumps(options)]


def last_line(text: str) -> Any:
    return json.loads(text.splitlines()[-1])


def test_a_disk_that_fills_up_stops_the_run_and_room_lets_it_go_on(tmp_path: Path, photos: Path, whole: bytes) -> None:
    """The disk is a real one of 400 kB, on which something else leaves room for a part of the run."""
    told = in_own_mounts(
        """
        mount -t tmpfs -o size=400k,nr_inodes=2000 none "$3"
        head -c 200000 /dev/zero > "$3/filler"
        "$PYTHON" "$1" "$2" "$3/run" '{"at_once": 4}' || echo '{"code": '$?'}'
        cp -r "$3/run" "$4"
        rm "$3/filler"
        mount -o remount,size=4m "$3"
        "$PYTHON" "$1" "$2" "$3/run" '{"at_once": 4}'
        cp -r "$3/run" "$5"
        """,
        CHILD, photos, _made(tmp_path / "disk"), tmp_path / "full", tmp_path / "after",
    )  # fmt: skip
    code = told.index({"code": 2})
    assert "No space left on device" in told[code - 1]["error"]
    assert told[code - 1]["error"].count("\n") == 0
    finished = sum("ended" in line for line in told[:code])
    assert 0 < finished < 60
    # Every line that counted is there, whole, and nothing else is.
    full = counts(tmp_path / "full")
    assert full["answered"] == full["different"] == finished
    assert told[-1]["why"] == "done"
    after = counts(tmp_path / "after")
    assert after["answered"] == after["different"] == 60
    assert (tmp_path / "after" / "results.jsonl").read_bytes() == whole
    before, now = ((tmp_path / name / "journal.jsonl").read_bytes() for name in ("full", "after"))
    assert now.startswith(before)


@pytest.mark.slow
def test_a_folder_that_can_t_be_written_is_said_and_can_be_read(tmp_path: Path, photos: Path) -> None:
    work(photos, tmp_path / "run" / "begun", Options(limits={"photos": 5}, at_once=1))
    told = in_own_mounts(
        """
        mount --bind "$3" "$3"
        mount -o remount,bind,ro "$3"
        "$PYTHON" "$1" "$2" "$3/new" '{}' || echo '{"code": '$?'}'
        "$PYTHON" "$1" "$2" "$3/begun" '{}' || echo '{"code": '$?'}'
        "$PYTHON" -c '
import sys
from pathlib import Path
from geosleuth.lab.bench.run import RunFolder
with RunFolder.read(Path(sys.argv[1])) as folder:
    print(folder.index.tries)
' "$3/begun"
        """,
        CHILD, photos, tmp_path / "run",
    )  # fmt: skip
    new, begun = tmp_path / "run" / "new", tmp_path / "run" / "begun"
    assert [line for line in told if line != {"begun": True}] == [
        {"error": f"{new}: can't be created: Read-only file system"},
        {"code": 2},
        {"error": f"{begun}: can't be written: Read-only file system"},
        {"code": 2},
        5,
    ]
    assert work(photos, begun).progress.answered == 60


def test_a_torn_last_line_is_cut_off_and_its_photo_done_again(tmp_path: Path, photos: Path, whole: bytes) -> None:
    run = tmp_path / "run"
    work(photos, run)
    journal = run / "journal.jsonl"
    content = journal.read_bytes()
    journal.write_bytes(content[:-20])
    said: list[str] = []
    ending = work(photos, run, say=said.append)
    last = len(content.splitlines(keepends=True)[-1])
    assert said == [f"{journal}: the last line was incomplete; {last - 20} bytes were cut off"]
    assert ending.progress.answered == 60
    # What the torn try had used is counted, and its trajectory kept.
    assert counts(run) == {"answered": 60, "different": 60, "tries": 61}
    assert (run / "results.jsonl").read_bytes() == whole


def test_a_damaged_line_in_the_middle_stops_everything_until_it_is_mended(
    tmp_path: Path, photos: Path, whole: bytes
) -> None:
    run = tmp_path / "run"
    work(photos, run)
    journal = run / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    damaged = b"".join([*lines[:30], lines[30][:40] + b"\x00\x00" + lines[30][42:], *lines[31:]])
    journal.write_bytes(damaged)
    with pytest.raises(BadInput, match=r"journal\.jsonl, line 31: .*; restore the file from a copy, or delete this"):
        work(photos, run)
    with pytest.raises(BadInput, match="line 31"):
        RunFolder.read(run)
    assert journal.read_bytes() == damaged
    journal.write_bytes(b"".join([*lines[:30], *lines[31:]]))
    assert work(photos, run).progress.answered == 60
    assert (run / "results.jsonl").read_bytes() == whole


def test_ctrl_c_keeps_what_is_finished(tmp_path: Path, photos: Path, whole: bytes) -> None:
    run = tmp_path / "run"
    started = subprocess.Popen(
        child(photos, run, at_once=2, wait_s=0.05), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert started.stdout is not None
    first = [started.stdout.readline() for _ in range(7)]
    started.send_signal(signal.SIGINT)
    rest, trouble = started.communicate(timeout=60)
    assert started.returncode == 130, trouble
    assert last_line(rest) == {"stopped": True}
    finished = "".join([*first, rest]).count('"ended"')
    summary = json.loads((run / "summary.json").read_text())
    assert 6 <= summary["answered"] < 60
    assert summary["why"] == "stopped"
    assert (run / "results.jsonl").read_bytes().count(b"\n") == summary["answered"]
    assert counts(run)["tries"] == finished
    assert work(photos, run).progress.answered == 60
    assert (run / "results.jsonl").read_bytes() == whole


@pytest.mark.slow
def test_two_commands_at_once_do_the_work_once(tmp_path: Path, photos: Path, whole: bytes) -> None:
    run = tmp_path / "run"
    first = subprocess.Popen(child(photos, run, at_once=2, wait_s=0.05), stdout=subprocess.PIPE, text=True)
    try:
        assert first.stdout is not None
        for _ in range(2):
            first.stdout.readline()
        # However busy the machine is, the first is still at it.
        first.send_signal(signal.SIGSTOP)
        second = subprocess.run(child(photos, run), capture_output=True, text=True, check=False, timeout=60)
        assert second.returncode == 2
        assert f"another process ({first.pid} on " in last_line(second.stdout)["error"]
        with RunFolder.read(run) as folder:
            assert folder.index.tries >= 1
        first.send_signal(signal.SIGCONT)
        out, _ = first.communicate(timeout=60)
    finally:
        first.kill()
        first.communicate()
    assert last_line(out)["why"] == "done"
    assert counts(run) == {"answered": 60, "different": 60, "tries": 60}
    assert (run / "results.jsonl").read_bytes() == whole


@pytest.mark.slow
def test_a_process_that_was_killed_lets_go_of_the_run(tmp_path: Path, photos: Path) -> None:
    run = tmp_path / "run"
    holder = subprocess.Popen(child(photos, run, hold=True), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    holder.stdout.readline()
    holder.kill()
    holder.communicate()
    began = time.monotonic()
    assert work(photos, run, Options(count=None)).progress.answered == 60
    assert time.monotonic() - began < 30


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
