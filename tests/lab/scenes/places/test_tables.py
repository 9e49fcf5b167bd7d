"""The tables of what signs say: rows that don't fit are refused, with their line."""

from pathlib import Path

import pytest

from geosleuth.lab.scenes.locales.tables import is_yes, read_table


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("code\nDE\n", "must be code, town"), ("code\ttown\nDE\tBonn\nAT\n", "line 3: has 1 cells; there must be 2")],
)
def test_refuses_rows_that_do_not_fit(text: str, complaint: str, tmp_path: Path) -> None:
    table = tmp_path / "towns.tsv"
    table.write_text(text)
    with pytest.raises(ValueError, match=complaint):
        list(read_table(str(table), ("code", "town")))


def test_takes_yes_and_no_alone() -> None:
    assert is_yes("yes")
    assert not is_yes("no")
    with pytest.raises(ValueError, match="'maybe' must be yes or no"):
        is_yes("maybe")
