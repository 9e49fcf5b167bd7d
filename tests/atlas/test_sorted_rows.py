import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.atlas.sorted_rows import SortedRows
from geosleuth.support.errors import DataFault

_KEYS = st.text(st.characters(exclude_characters="\t\n", exclude_categories=["Cs"]), max_size=6)


@given(st.dictionaries(_KEYS, st.text("01 ab", max_size=8), min_size=1, max_size=40), _KEYS)
def test_rows_say_what_the_table_says(table: dict[str, str], other: str) -> None:
    rows = SortedRows.unpack(SortedRows.pack(table))
    assert {key: rows.get(key) for key in table} == table
    assert rows.get(other) == table.get(other)


def test_a_block_that_is_not_whole_is_noticed() -> None:
    packed = SortedRows.pack({"monaco": "MC 1", "nice": "FR 2"})
    for damaged in (b"", packed[:-1], packed[:9], packed + b"x", b"\0" * 20):
        with pytest.raises(DataFault):
            SortedRows.unpack(damaged)
