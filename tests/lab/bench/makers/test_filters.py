"""What makes no fair question is left out, and why."""

import pytest

from geosleuth.lab.bench.makers.ratings import Filter, Sieved, sieve
from geosleuth.support.errors import BadInput
from maker_sets import item


def test_photos_that_nobody_or_everybody_can_locate_go() -> None:
    photos = [
        item("room", locatability="2", rated_by="m"),
        item("street", locatability="6.5", rated_by="m"),
        item("edge", locatability="4", rated_by="m"),
        item("tower", locatability="10", landmark="Eiffel Tower", rated_by="m"),
    ]
    counted, gone = Sieved(), list[tuple[str, str]]()
    kept = [one.id for one in sieve(photos, Filter(), counted, lambda one, reason: gone.append((one.id, reason)))]
    assert kept == ["street", "edge"]
    assert gone == [("room", "non-localisable"), ("tower", "landmark")]
    assert (counted.kept, dict(counted.dropped)) == (2, {"non-localisable": 1, "landmark": 1})


@pytest.mark.parametrize(
    ("width", "height", "goes"),
    [("1600", "1200", None), ("1200", "1600", None), ("1599", "1200", "small"), ("4000", "1199", "small")],
)
def test_small_photos_go_either_way_up(width: str, height: str, goes: str | None) -> None:
    one = item("a", locatability="9", width=width, height=height, rated_by="m")
    assert Filter(least_size=(1600, 1200)).reason(one) == goes


def test_a_set_that_nobody_rated_is_not_filtered() -> None:
    with pytest.raises(BadInput, match="a: has no locatability; run geosleuth dataset rate first"):
        Filter().reason(item("a"))
    with pytest.raises(BadInput, match="not rated for landmarks"):
        Filter(column="difficulty").reason(item("a", difficulty="7"))
    with pytest.raises(BadInput, match="not a number"):
        Filter().reason(item("a", locatability="high"))
