"""How the command ends where its streams are full, closed or gone, its input never ends, or it is interrupted."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from foreground import hear_ctrl_c
from in_process import whole_command
from python_path import python_path

GEOSLEUTH = Path(sys.executable).with_name("geosleuth")
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    record = {"id": "a", "truth": {"lat": 48.0, "lon": 2.0}, "reply": "lat: 48.0, lon: 2.0"}
    (tmp_path / "answers.jsonl").write_text(json.dumps(record))
    return tmp_path


def shell(folder: Path, line: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    """One line of shell, in which $G is the command."""
    return subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        env={**os.environ, "G": str(GEOSLEUTH), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


COMMANDS = ["--help", "bench score answers.jsonl --json"]


@needs_full
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_is_told_in_one_line(folder: Path, command: str) -> None:
    done = shell(folder, f'"$G" {command} > /dev/full')
    assert done.returncode == 1
    assert done.stderr == "geosleuth: can't write to standard output: No space left on device\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_output_is_told_in_one_line(folder: Path, command: str) -> None:
    done = shell(folder, f'"$G" {command} >&-')
    assert (done.returncode, done.stderr) == (1, "geosleuth: can't write to standard output: it is closed\n")


@pytest.mark.parametrize(
    "closed",
    [
        "2>&- <&-",
        pytest.param("2>&-", marks=pytest.mark.slow),
        pytest.param("2>/dev/full", marks=[needs_full, pytest.mark.slow]),
    ],
)
def test_nobody_to_talk_to_is_no_failure(folder: Path, closed: str) -> None:
    done = shell(folder, f'"$G" bench score answers.jsonl --json --out r.html {closed}')
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["files"][0]["n"] == 1
    assert (folder / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_outputs_are_written_whole_where_everything_is_closed(folder: Path) -> None:
    done = shell(folder, '"$G" bench score answers.jsonl --out r.json >&- 2>&- <&-')
    assert done.returncode == 1
    assert json.loads((folder / "r.json").read_text(encoding="utf-8"))["files"][0]["n"] == 1


@pytest.mark.parametrize(
    "closed",
    [
        ">&-",
        pytest.param("> /dev/full", marks=[needs_full, pytest.mark.slow]),
        pytest.param("2>&-", marks=pytest.mark.slow),
    ],
)
def test_bad_input_stays_bad_input(folder: Path, closed: str) -> None:
    assert shell(folder, f'"$G" bench score missing.jsonl {closed}').returncode == 2


NO_RECORDS = ["", ".", "/", "..", "/dev/zero", "/dev/null", "pipe", "pipe.jsonl", "zero.csv"]
ASK_ALL = """
import json, sys
from foreground import hear_ctrl_c
from in_process import whole_command
for name in sys.argv[2:]:
    done = whole_command("bench", *sys.argv[1].split(), name)
    print(json.dumps([name, done.returncode, done.stdout, done.stderr]), flush=True)
"""


@pytest.mark.parametrize("command", ["score", pytest.param("compare answers.jsonl", marks=pytest.mark.slow)])
def test_what_is_no_file_of_records_is_refused_at_once(folder: Path, command: str) -> None:
    os.mkfifo(folder / "pipe")
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "zero.csv").symlink_to("/dev/zero")
    # One process asks for all of them, one after the other: what hangs is still found, by the first that has no line.
    done = subprocess.run(
        [sys.executable, "-c", ASK_ALL, command, *NO_RECORDS], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, timeout=60, check=False,
    )  # fmt: skip
    asked = [json.loads(line) for line in done.stdout.splitlines()]
    assert [name for name, *_ in asked] == NO_RECORDS, done.stderr
    for name, code, out, complaint in asked:
        assert (code, out, complaint.count("\n")) == (2, "", 1), name
        assert "records" in complaint or "not a plain file" in complaint, name


def test_names_of_files_send_no_escape_sequences(folder: Path) -> None:
    evil = folder / "evil\x1b[2J\nname.jsonl"
    evil.write_bytes((folder / "answers.jsonl").read_bytes())
    for command in (
        ["score", evil, "--out", evil.with_suffix(".html")],
        ["compare", evil, evil],
        ["score", evil.parent / "\x1b[1m"],
    ):
        done = whole_command("bench", *command)
        assert "\x1b" not in done.stdout + done.stderr
        assert done.stderr.count("\n") <= 1
    assert "evil\N{REPLACEMENT CHARACTER}[2J name" in whole_command("bench", "score", evil).stdout


@pytest.mark.parametrize("module", ["typer", "numpy"])
def test_ctrl_c_during_imports_leaves_no_traceback(folder: Path, module: str) -> None:
    (folder / f"{module}.py").write_text("import sys, time\nprint('importing', flush=True)\ntime.sleep(60)\n")
    with subprocess.Popen(
        [GEOSLEUTH, "bench", "score", "answers.jsonl"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": python_path(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_ctrl_c,  # noqa: PLW1509  (one call, before any other)
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=30)
    assert (process.returncode, complaint) == (130, "")


@pytest.mark.parametrize(
    ("columns", "widest"),
    [
        ("80", 80),
        ("wide", 200),
        pytest.param("0", 200, marks=pytest.mark.slow),
    ],
)
def test_piped_output_is_as_wide_as_columns_says(folder: Path, columns: str, widest: int) -> None:
    done = shell(folder, f'COLUMNS={columns} "$G" bench published --paper twm --table 4')
    lengths = [len(line) for line in done.stdout.splitlines()]
    assert widest - 20 < max(lengths) <= widest
