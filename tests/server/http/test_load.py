"""Many readers at once: nobody misses anything. How late they hear is measured by benchmarks/serve.py.

In `make test` a few readers of one run are watched by test_streams.py.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).resolve().parents[3] / "benchmarks" / "serve.py"


def measured(home: Path, *arguments: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), "--json", *arguments],
        env={**os.environ, "GEOSLEUTH_HOME": str(home)}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, float] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_sixty_readers_of_two_runs_miss_nothing(home: Path) -> None:
    found = measured(home, "--streams", "60", "--runs", "2", "--turns", "8")
    assert found["streams_with_gaps"] == 0
    assert found["events_heard"] == 60 * found["events_of_a_run"]


@pytest.mark.slow
def test_two_hundred_readers_of_eight_runs_miss_nothing(home: Path) -> None:
    found = measured(home)
    assert found["streams_with_gaps"] == 0
    assert found["events_counted"] > 5000


@pytest.mark.slow
def test_a_thousand_cases_are_listed_at_once_newest_first(home: Path) -> None:
    assert measured(home, "--what", "history", "--check")["cases"] == 1000


@pytest.mark.slow
def test_memory_stays_flat_over_cases(home: Path) -> None:
    found = measured(home, "--what", "cases", "--cases", "300", "--run-every", "50", "--check")
    assert found["runs"] == 6
