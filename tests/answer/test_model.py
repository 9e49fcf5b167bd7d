import pytest

from geosleuth.answer import Address, Answer, Candidate, Level
from geosleuth.geo import LatLon


@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan")])
def test_a_probability_outside_the_unit_interval_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="probability"):
        Answer(probability=value)
    with pytest.raises(ValueError, match="probability"):
        Candidate(probability=value)


@pytest.mark.parametrize("value", [0.0, -1.0, float("inf"), float("nan")])
def test_a_radius_that_is_no_length_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="radius_km"):
        Answer(radius_km=value)


def test_an_answer_without_point_is_unlocated() -> None:
    assert not Answer().located
    assert Answer(LatLon(0, 0)).located


def test_an_address_reads_like_an_envelope() -> None:
    assert str(Address.create("Monaco", None, "Rue Grimaldi")) == "Rue Grimaldi, Monaco"
    assert not Address()
    assert Address(country=Level(clues=("a plate",)))
