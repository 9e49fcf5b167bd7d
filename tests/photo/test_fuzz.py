"""Thousands of damaged files: each is opened or refused, soon, and in bounded memory."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

WORKER = Path(__file__).parent / "fuzz_worker.py"


def open_mutated(first: int, count: int) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(WORKER), str(first), str(count)],
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"stopped at file {lines[-1:]} with {done.returncode}: {done.stderr[-2000:]}"
    summary = json.loads(lines[-1])
    assert summary["opened"] + summary["refused"] == count
    # Both ways must be walked, or the mutations prove nothing.
    assert min(summary["opened"], summary["refused"]) > count / 20
    assert summary["slowest"][0] < 2, f"file {summary['slowest'][1]} took {summary['slowest'][0]:.1f} s"
    assert summary["peak_mib"] < 1500


def test_damaged_files_are_opened_or_refused() -> None:
    open_mutated(0, 300)


@pytest.mark.slow
def test_ten_thousand_damaged_files_are_opened_or_refused() -> None:
    open_mutated(1_000, 10_000)
