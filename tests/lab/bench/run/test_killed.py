"""kill -9 at random moments, again and again, then continued: the same bytes as if nothing had happened."""

from pathlib import Path

import pytest

from bench_child import make_photos
from killed_runs import check


def test_killed_a_few_times(tmp_path: Path) -> None:
    check(make_photos(tmp_path / "photos", 80), tmp_path, moments=5, at_once=6, seed=8)


@pytest.mark.slow
def test_killed_at_fifty_moments_of_five_hundred_photos(tmp_path: Path) -> None:
    check(make_photos(tmp_path / "photos", 500), tmp_path, moments=50, at_once=16, seed=80)
