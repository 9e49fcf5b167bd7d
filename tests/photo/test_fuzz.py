"""Thousands of damaged files: each is opened or refused, soon, and in bounded memory."""

import pytest

from attack_process import attack
from attack_targets import PHOTO_FORMATS


def open_mutated(form: str, first: int, count: int) -> None:
    came = attack(f"photo-{form}", first, count)
    assert not came.faults
    assert came.files == count
    # Both ways must be walked, or the mutations prove nothing.
    assert min(came.taken, came.refused) > count / 20
    assert came.slowest_s < 2
    assert came.peak_mib < 1500


@pytest.mark.parametrize("form", PHOTO_FORMATS)
def test_damaged_files_are_opened_or_refused(form: str) -> None:
    open_mutated(form, 0, 100)


@pytest.mark.slow
@pytest.mark.parametrize("form", PHOTO_FORMATS)
def test_thousands_of_damaged_files_are_opened_or_refused(form: str) -> None:
    open_mutated(form, 1_000, 2_000)
