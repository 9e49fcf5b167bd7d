"""Nothing finer than allowed leaves, whatever stands in an answer."""

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.answer import Address, Answer, Candidate
from geosleuth.answer.formats import FORMATS, LocatedAnswer, render_as
from geosleuth.answer.granularity import (
    GRANULARITIES,
    Admitted,
    Granularity,
    cap,
    cap_sources,
    cap_text,
    compute_granularity,
    round_up,
)
from geosleuth.geo import LatLon, distance_km
from marked import HOME, MARKER, holds_digits_of, holds_marker, marked_answer, marked_context

POINTS = st.builds(LatLon, st.floats(-90, 90), st.floats(-180, 180))
CAPPED = st.sampled_from(GRANULARITIES[:-1])
RADII = st.none() | st.floats(0.01, 5000)


@dataclass
class OneTown:
    """Knows one town and takes everything for it; what it says below the level must not get through."""

    centre: LatLon = field(default_factory=lambda: LatLon(43.73, 7.42))
    radius_km: float = 2.0
    asked: list[Granularity] = field(default_factory=list)

    async def find_place(
        self, level: Granularity, point: LatLon | None, address: Address, radius_km: float | None
    ) -> Admitted | None:
        del point, address, radius_km
        self.asked.append(level)
        return Admitted(self.centre, self.radius_km, Address.create("Monaco", "Monaco", "Monaco"))


def capped(answer: Answer, level: Granularity, town: OneTown | None = None) -> Answer:
    return asyncio.run(cap(answer, level, town))


def test_exact_is_the_answer_itself() -> None:
    town = OneTown()
    assert capped(marked_answer(), "exact", town) == marked_answer()
    assert town.asked == []


@pytest.mark.parametrize("level", ["country", "region", "city"])
def test_the_point_goes_to_the_centre_and_the_radius_holds_the_old_circle(level: Granularity) -> None:
    town = OneTown()
    found = capped(marked_answer(), level, town)
    assert found.point == town.centre
    assert found.radius_km == pytest.approx(2.2)
    assert found.probability == 0.8


def test_levels_below_the_cap_are_dropped_whatever_the_gazetteer_says() -> None:
    names = {level: capped(marked_answer(), level, OneTown()).address for level in GRANULARITIES[:3]}
    assert names["country"] == Address.create("Monaco")
    assert names["region"] == Address.create("Monaco", "Monaco")
    assert names["city"] == Address.create("Monaco", "Monaco", "Monaco")


@pytest.mark.parametrize("level", GRANULARITIES[:-1])
def test_no_text_of_the_answer_gets_through(level: Granularity) -> None:
    for town in (OneTown(), None):
        found = capped(marked_answer(), level, town)
        assert not holds_marker(repr(found))
        assert found.explanation is not None
        assert level in found.explanation
        assert all(one.evidence is None for one in found.candidates)


@pytest.mark.parametrize("level", GRANULARITIES[:-2])
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("known", [True, False])
def test_the_marker_street_is_in_no_file(level: Granularity, name: str, *, known: bool) -> None:
    town = OneTown() if known else None
    whole = render_as(name, [LocatedAnswer(marked_answer(), marked_context())])
    entry = LocatedAnswer(asyncio.run(cap(marked_answer(), level, town)), marked_context().coarsen(level))
    text = render_as(name, [entry])
    assert holds_marker(whole)
    assert not holds_marker(text)
    assert not holds_digits_of(HOME, text)
    assert level in text


def test_a_street_is_told_to_some_hundred_metres() -> None:
    found = capped(Answer(HOME, radius_km=0.01), "street")
    assert found.point is not None
    assert 0.0 < distance_km(found.point, HOME) < 0.1
    assert found.radius_km is not None
    assert 0.1 <= found.radius_km <= 0.2


@given(point=POINTS, radius_km=RADII, level=CAPPED)
def test_squares_hold_their_points_and_capping_twice_is_capping_once(
    point: LatLon, radius_km: float | None, level: Granularity
) -> None:
    found = capped(Answer(point, radius_km=radius_km, probability=0.5), level)
    assert found.point is not None
    assert found.radius_km is not None
    assert distance_km(found.point, point) + (radius_km or 0) <= found.radius_km + 1e-6 or found.radius_km > 20000
    assert capped(found, level) == found


@given(point=POINTS, level=CAPPED, north_m=st.floats(-1, 1), east_m=st.floats(-1, 1))
def test_answers_a_metre_apart_mostly_look_the_same(
    point: LatLon, level: Granularity, north_m: float, east_m: float
) -> None:
    lat = max(-89.0, min(89.0, point.lat))
    one = capped(Answer(LatLon(lat, 10 + point.lon / 20), radius_km=1), level)
    other = capped(Answer(LatLon(lat + north_m / 111_000, 10 + point.lon / 20 + east_m / 111_000), radius_km=1), level)
    assert one.point is not None
    assert other.point is not None
    # Either the same square or a neighbour: never something in between.
    assert one.point == other.point or distance_km(one.point, other.point) > 0.03


@given(points=st.lists(st.tuples(st.floats(-0.01, 0.01), st.floats(-0.01, 0.01)), min_size=2, max_size=5))
def test_where_in_the_town_an_answer_lies_does_not_show(points: list[tuple[float, float]]) -> None:
    town = OneTown()
    found = {
        capped(Answer(LatLon(town.centre.lat + dlat, town.centre.lon + dlon + 0.001), radius_km=0.3), "city", town)
        for dlat, dlon in points
    }
    assert len({(one.point, one.radius_km) for one in found}) == 1


def test_a_town_that_does_not_reach_the_point_gets_a_rounded_circle() -> None:
    town = OneTown(centre=LatLon(43.73, 7.52))
    found = capped(Answer(HOME), "city", town)
    assert found.radius_km == 10.0


def test_an_answer_without_a_point_stays_without_one() -> None:
    found = capped(Answer(address=Address.create("Monaco", None, MARKER), probability=0.3), "city", OneTown())
    assert found.point is None
    assert found.radius_km is None
    assert found.address.precise.conclusion == "Monaco"
    assert capped(Answer(), "city", OneTown()) == Answer()
    assert capped(Answer(address=Address.create("Monaco", None, MARKER)), "city") == Answer()


def test_candidates_that_fall_together_are_one() -> None:
    several = (*(Candidate(f"{MARKER} {n}", HOME, 0.2, "x") for n in range(3)), Candidate("Nice"))
    found = capped(Answer(candidates=several), "city", OneTown())
    assert found.candidates == (Candidate("Monaco", OneTown().centre, 0.6),)


def test_a_place_with_no_name_and_no_point_is_no_candidate() -> None:
    assert capped(Answer(candidates=(Candidate(MARKER),)), "city").candidates == ()


def test_a_log_line_is_whole_or_left_out() -> None:
    assert cap_text(f"found {MARKER}", "exact") == f"found {MARKER}"
    assert not holds_marker(cap_text(f"found {MARKER}", "city"))
    assert cap_text("", "city") == ""


def test_sources_tell_who_but_not_where() -> None:
    sources = ("photo", "OpenStreetMap, region monaco-ville", "OpenStreetMap, region x", "zzyzx.example")
    assert cap_sources(sources, "city") == ("photo", "OpenStreetMap")
    assert cap_sources(sources, "exact") == sources


@pytest.mark.parametrize(
    ("length", "rounded"), [(0.07, 0.1), (0.1, 0.1), (1.01, 2), (2.0, 2), (3, 5), (7, 10), (60, 100)]
)
def test_lengths_are_rounded_up_to_one_two_or_five(length: float, rounded: float) -> None:
    assert round_up(length) == pytest.approx(rounded)


@pytest.mark.parametrize(
    ("radius_km", "allowed", "told"),
    [
        (0.05, "exact", "exact"), (1.0, "exact", "street"), (25.0, "exact", "city"), (25.1, "exact", "region"),
        (200.0, "exact", "region"), (600.0, "exact", "country"), (None, "exact", "exact"), (0.05, "city", "city"),
        (600.0, "street", "country"),
    ],
)  # fmt: skip
def test_an_answer_is_told_as_coarse_as_its_radius(
    radius_km: float | None, allowed: Granularity, told: Granularity
) -> None:
    assert compute_granularity(Answer(HOME, radius_km=radius_km), allowed) == told


def test_an_answer_without_a_point_is_told_as_it_may_be() -> None:
    assert compute_granularity(Answer(radius_km=600.0)) == "exact"
