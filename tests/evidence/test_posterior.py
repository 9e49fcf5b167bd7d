"""Clues against each other: who wins, by how much, and what must not change an answer."""

import random
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn import examples
from geosleuth.evidence.clue import Clue, ClueKind, CluePlace, TextSeen
from geosleuth.evidence.country_prior import country_prior, world_prior
from geosleuth.evidence.decision import MIN_LEVEL_PROBABILITY, REACH_KM, Decision, decide
from geosleuth.evidence.posterior import UNKNOWN_PRIOR, Posterior, dampen, posterior
from geosleuth.geo import Disc, LatLon, distance_km

HELSINKI, MONACO, PARIS = LatLon(60.1699, 24.9384), LatLon(43.7371, 7.4215), LatLon(48.8534, 2.3488)
KINDS: tuple[ClueKind, ...] = ("business", "street", "place", "station", "language", "phone", "tld", "currency")


def named(
    seen: str,
    point: LatLon,
    country: str | None,
    *,
    kind: ClueKind = "business",
    weight: float = 0.5,
    reliability: float = 0.75,
    radius_km: float = 0.1,
) -> Clue:
    return Clue(kind, seen, seen, reliability, {}, (CluePlace(seen, point, radius_km, weight, country),))


def says(kind: ClueKind, seen: str, countries: dict[str, float], reliability: float = 0.85) -> Clue:
    return Clue(kind, seen, seen, reliability, countries)


def moved(point: LatLon, north_km: float, east_km: float = 0.0) -> LatLon:
    return LatLon(point.lat + north_km / 111.2, point.lon + east_km / (111.2 * np.cos(np.radians(point.lat))))


def near(found: Posterior, point: LatLon, reach_km: float = 1.0) -> float:
    return sum(one.probability for one in found.candidates if distance_km(one.point, point) <= reach_km)


FINNISH = says("language", "apteekki", {"FI": 0.95, "SE": 0.05})
HELSINKI_SIGN = named("Helsinki", HELSINKI, "FI", kind="place", weight=0.9, reliability=0.55, radius_km=10)
MONACO_TOURS = named("Monaco Tours", MONACO, "MC", kind="place", weight=0.9, reliability=0.55, radius_km=2)


def total(found: Posterior) -> float:
    return sum(one.probability for one in found.candidates) + sum(found.elsewhere.values()) + found.unknown


def test_no_clue_is_the_prior_and_no_answer() -> None:
    found = posterior([])
    assert found.candidates == ()
    assert found.unknown == pytest.approx(UNKNOWN_PRIOR)
    for code, share in country_prior().items():
        assert found.countries[code] == pytest.approx((1 - UNKNOWN_PRIOR) * share)
    decision = decide(found)
    assert decision.level == "none"
    assert decision.point is None
    assert decision.radius_km is None
    assert decision.country is None


def test_one_clue_is_believed_as_far_as_it_is_reliable_and_unique() -> None:
    found = posterior([named("Stars", MONACO, "MC", weight=0.8, reliability=0.75)])
    assert near(found, MONACO) == pytest.approx(0.6, abs=0.02)
    assert found.countries["MC"] == pytest.approx(0.6, abs=0.02)


def test_a_tour_bus_loses_against_the_signs_around_it() -> None:
    decision = decide(posterior([HELSINKI_SIGN, FINNISH, MONACO_TOURS]))
    assert decision.country == "FI"
    assert decision.level == "city"
    assert decision.probability_raw > 0.9
    assert MONACO_TOURS in decision.contradicting
    assert set(decision.supporting) == {HELSINKI_SIGN, FINNISH}


def test_two_clues_that_contradict_each_other_give_no_answer() -> None:
    found = posterior([HELSINKI_SIGN, MONACO_TOURS])
    assert decide(found).level == "none"
    alone = posterior([HELSINKI_SIGN])
    assert found.unknown > alone.unknown


@pytest.mark.parametrize("apart_km", [0.0, 0.15, 0.4, 0.9])
def test_two_fine_clues_that_meet_win_over_a_famous_name(apart_km: float) -> None:
    clues = [
        named("Kosmos", HELSINKI, "FI", weight=0.2),
        named("Kalevankatu", moved(HELSINKI, apart_km), "FI", kind="street", weight=0.2, radius_km=0.2),
        named("Paris", PARIS, "FR", kind="place", weight=0.95, reliability=0.9, radius_km=15),
    ]
    decision = decide(posterior(clues))
    assert decision.country == "FI"
    assert decision.level == "spot"
    assert decision.point is not None
    assert distance_km(decision.point, HELSINKI) <= 1.0


def test_fine_clues_in_different_towns_do_not_add_up() -> None:
    clues = [
        named("Kosmos", HELSINKI, "FI", weight=0.2),
        named("Kalevankatu", moved(HELSINKI, 160), "FI", kind="street", weight=0.2),
    ]
    # They lean to their country at most, and to neither of the towns.
    decision = decide(posterior(clues))
    assert decision.level in ("none", "country")
    assert decision.probability_raw < MIN_LEVEL_PROBABILITY["country"]


def test_a_fine_clue_inside_a_coarse_one_gives_the_fine_place() -> None:
    shop = named("Kosmos", moved(HELSINKI, 2), "FI", weight=0.1)
    found = posterior([shop, HELSINKI_SIGN])
    decision = decide(found)
    assert (decision.level, decision.name) == ("spot", "Kosmos")
    assert decision.kinds == 2
    assert decision.radius_km is not None
    assert decision.radius_km < 1


def test_a_shop_with_many_branches_in_a_town_gives_the_town() -> None:
    branches = tuple(CluePlace(f"Kiosk {n}", moved(HELSINKI, 2 * n, n), 0.1, 0.12, "FI") for n in range(8))
    decision = decide(posterior([Clue("business", "Kiosk", "", 0.75, {}, branches), FINNISH]))
    assert decision.level == "city"
    assert decision.country == "FI"


def test_a_language_alone_gives_a_country_with_the_reach_of_its_people() -> None:
    decision = decide(posterior([FINNISH]))
    assert decision.level == "country"
    assert decision.name == "Finland"
    assert decision.radius_km is not None
    assert decision.radius_km > 100
    assert decision.probability_raw == decision.country_probability


def test_a_country_that_is_a_town_is_answered_as_a_town() -> None:
    decision = decide(posterior([says("phone", "+377", {"MC": 1.0}, 0.95)]))
    assert decision.level == "city"
    assert decision.country == "MC"
    assert decision.radius_km is not None
    assert decision.radius_km < 5


def test_what_lies_outside_is_ruled_out() -> None:
    around_helsinki = Disc(HELSINKI, 50)
    found = posterior([MONACO_TOURS, HELSINKI_SIGN], within=around_helsinki)
    assert found.candidates
    assert all(around_helsinki.contains(one.point) for one in found.candidates)
    assert set(found.countries) == {"FI"}
    assert total(found) == pytest.approx(1)
    assert decide(found).country == "FI"
    only = posterior([MONACO_TOURS, FINNISH], countries=["fi", "SE"])
    assert set(only.countries) == {"FI", "SE"}
    assert not only.candidates


def test_where_the_user_looks_is_no_answer_by_itself() -> None:
    assert decide(posterior([], within=Disc(HELSINKI, 20))).level == "none"
    assert decide(posterior([MONACO_TOURS], within=Disc(HELSINKI, 20))).level == "none"


def test_ruling_everything_out_leaves_only_the_unknown() -> None:
    found = posterior([FINNISH], countries=[])
    assert found.unknown == pytest.approx(1)
    assert decide(found).level == "none"


def test_every_candidate_says_what_speaks_for_it_and_against_it() -> None:
    found = posterior([HELSINKI_SIGN, FINNISH, MONACO_TOURS])
    helsinki, monaco = found.candidates
    assert set(helsinki.supporting) == {HELSINKI_SIGN, FINNISH}
    assert helsinki.contradicting == (MONACO_TOURS,)
    assert monaco.supporting == (MONACO_TOURS,)
    assert helsinki.contributions[0].log_ratio > helsinki.contributions[-1].log_ratio
    explained = sum(part.log_ratio for part in helsinki.contributions)
    explained -= sum(part.log_ratio for part in monaco.contributions)
    world = world_prior()
    radii = np.array([helsinki.radius_km, monaco.radius_km])
    chances = world.chance(np.array([world.codes.index("FI"), world.codes.index("MC")]), radii)
    prior = chances[0] / chances[1]
    odds = helsinki.probability / monaco.probability
    assert np.log(odds / prior) == pytest.approx(explained), "the parts add up to the whole"
    assert found.country_contributions("FI")[0].clue in (HELSINKI_SIGN, FINNISH)
    assert found.country_contributions("ZZ") == ()


def test_a_text_that_was_looked_up_twice_is_one_clue() -> None:
    as_town = named("Roma", LatLon(41.89, 12.51), "IT", kind="place", weight=0.5, radius_km=20)
    as_cafe = named("ROMA", MONACO, "MC", kind="business", weight=0.1)
    found = posterior([as_town, as_cafe])
    assert len(found.clues) == 1
    assert len(found.candidates) == 2
    assert near(found, LatLon(41.89, 12.51)) > near(found, MONACO)


def test_a_pair_and_its_parts_do_not_count_three_times() -> None:
    shop, street = named("Kosmos", HELSINKI, "FI"), named("Kalevankatu", HELSINKI, "FI", kind="street")
    pair = named("Kosmos + Kalevankatu", HELSINKI, "FI", kind="business")
    found = posterior([shop, street, pair])
    best = found.candidates[0]
    strengths = sorted(part.log_ratio for part in best.contributions)
    assert strengths[0] < 0.5 * strengths[-1]


@given(st.lists(st.floats(-5, 10), min_size=1, max_size=30), st.floats(0, 10))
def test_one_more_voice_for_it_never_lowers_the_sum_of_a_kind(ratios: list[float], more: float) -> None:
    before = dampen(np.array(ratios)[:, None])[0]
    after = dampen(np.array([*ratios, more])[:, None])[0]
    assert after >= before - 1e-9


@given(st.floats(0.1, 10), st.integers(1, 1000))
def test_clues_of_one_kind_count_with_the_root_of_their_number_up_to_three(ratio: float, count: int) -> None:
    together = dampen(np.full((count, 1), ratio))[0]
    assert together == pytest.approx(ratio * min(3.0, np.sqrt(count)))


POINTS = st.builds(LatLon, st.floats(-60, 70), st.floats(-180, 180))
CODES = st.sampled_from(["FR", "MC", "FI", "AD", "US", "IN", "BR", "XK"])
SPOTS = st.builds(
    CluePlace,
    st.sampled_from(["a", "b", "c"]),
    POINTS,
    st.floats(0.05, 300),
    st.floats(0.01, 0.5),
    CODES,
)
CLUES = st.builds(
    Clue,
    st.sampled_from(KINDS),
    st.text("abcdefgh", min_size=1, max_size=6),
    st.just("says so"),
    st.floats(0, 1),
    st.dictionaries(CODES, st.floats(0.01, 1), max_size=4),
    st.lists(SPOTS, max_size=3).map(tuple),
)


def same(one: Posterior, other: Posterior) -> bool:
    places, others = ({(c.name, c.point, c.country): c.probability for c in found.candidates} for found in (one, other))
    return (
        one.unknown == pytest.approx(other.unknown, rel=1e-6, abs=1e-12)
        and places == pytest.approx(others, rel=1e-6, abs=1e-9)
        and dict(one.countries) == pytest.approx(dict(other.countries), rel=1e-6, abs=1e-9)
    )


@settings(max_examples=examples(60))
@given(st.lists(CLUES, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_clues_makes_no_difference(clues: list[Clue], draws: random.Random) -> None:
    shuffled = list(clues)
    draws.shuffle(shuffled)
    assert same(posterior(clues), posterior(shuffled))


@settings(max_examples=examples(60))
@given(st.lists(CLUES, max_size=10))
def test_whatever_is_seen_probabilities_add_up_and_an_answer_comes(clues: list[Clue]) -> None:
    found = posterior(clues)
    assert total(found) == pytest.approx(1)
    assert all(0 <= one.probability <= 1 for one in found.candidates)
    decision = decide(found)
    assert 0 <= decision.probability_raw <= 1
    assert (decision.point is None) == (decision.level == "none") == (decision.radius_km is None)
    if decision.level in REACH_KM:
        assert decision.radius_km is not None
        assert 0 < decision.radius_km <= REACH_KM[decision.level] + 1e-6


@settings(max_examples=examples(60))
@given(st.lists(CLUES, max_size=8), CODES, st.sampled_from(KINDS), st.floats(0.05, 0.99))
def test_one_more_clue_for_a_country_alone_never_lowers_it(
    clues: list[Clue], code: str, kind: ClueKind, reliability: float
) -> None:
    more = says(kind, "one more clue", {code: 1.0}, reliability)
    before, after = posterior(clues), posterior([*clues, more])
    assert after.countries.get(code, 0.0) >= before.countries.get(code, 0.0) - 1e-9


@settings(max_examples=examples(40))
@given(st.lists(CLUES, max_size=8), POINTS, st.floats(0.05, 0.99))
def test_one_more_clue_for_a_place_never_lowers_its_surroundings(
    clues: list[Clue], point: LatLon, reliability: float
) -> None:
    more = named("one more clue", point, None, kind="landmark", weight=1.0, reliability=reliability)
    before, after = posterior(clues), posterior([*clues, more])
    assert near(after, point) >= near(before, point) - 1e-6


def test_many_words_of_one_language_do_not_outweigh_other_kinds_without_bound() -> None:
    few = posterior([says("language", f"mot {n}", {"FR": 0.8, "BE": 0.2}) for n in range(9)])
    many = posterior([says("language", f"mot {n}", {"FR": 0.8, "BE": 0.2}) for n in range(90)])
    assert many.countries["FR"] == pytest.approx(few.countries["FR"])


def test_odd_numbers_do_no_harm() -> None:
    nan, inf = float("nan"), float("inf")
    clues = [
        Clue("business", "nan", "", nan, {}, (CluePlace("x", HELSINKI, nan, 0.5, "FI"),)),
        Clue("business", "inf", "", 5.0, {"FI": inf, "ZZ": 1.0}, (CluePlace("x", HELSINKI, inf, 7.0, "FI"),)),
        Clue("phone", "negative", "", 0.9, {"FI": -1.0}, (CluePlace("x", HELSINKI, -3.0, -0.5, "ZZ"),)),
    ]
    found = posterior(clues)
    assert total(found) == pytest.approx(1)
    assert isinstance(decide(found), Decision)


def on_sign(top: float, clues: Iterable[Clue], title: str = "sign") -> list[Clue]:
    """The clues as if they stood on one sign, below each other."""
    return [
        replace(
            clue, where=TextSeen(f"{title} {row}", "image-1", (40, top + 40 * row, 240, top + 30 + 40 * row), 1, "")
        )
        for row, clue in enumerate(clues)
    ]


MANY_OF_MONACO = [
    MONACO_TOURS,
    says("phone", "+377 93 00 00 00", {"MC": 1.0}, 0.9),
    says("tld", "tours.mc", {"MC": 1.0}),
    says("currency", "franc", {"MC": 1.0}),
]
FEW_OF_HELSINKI = [HELSINKI_SIGN, FINNISH]


def test_a_sign_does_not_win_over_another_by_the_number_of_its_clues() -> None:
    apart = posterior([*on_sign(40, FEW_OF_HELSINKI), *on_sign(600, MANY_OF_MONACO)])
    assert posterior([*FEW_OF_HELSINKI, *MANY_OF_MONACO]).countries["MC"] > 0.9, "as if all were independent"
    assert 0.25 < apart.countries["FI"] < 0.75
    assert 0.25 < apart.countries["MC"] < 0.75
    more = posterior([*on_sign(40, FEW_OF_HELSINKI), *on_sign(600, [*MANY_OF_MONACO, says("unit", "m", {"MC": 1.0})])])
    assert more.countries["MC"] == pytest.approx(apart.countries["MC"], abs=0.02)
    assert total(apart) == pytest.approx(1)


def test_a_sign_that_looks_like_a_bus_gives_way_to_one_that_does_not() -> None:
    found = posterior([*on_sign(40, FEW_OF_HELSINKI), *on_sign(600, MANY_OF_MONACO, "Monaco Tours")])
    assert found.countries["FI"] > 2 * found.countries["MC"] > 0.05


def test_one_sign_is_weighed_as_if_its_clues_stood_nowhere() -> None:
    for clues in (FEW_OF_HELSINKI, MANY_OF_MONACO, [*FEW_OF_HELSINKI, *MANY_OF_MONACO]):
        nowhere, sign = posterior(clues), posterior(on_sign(40, clues, "Tours"))
        assert sign.unknown == pytest.approx(nowhere.unknown)
        assert [one.probability for one in sign.candidates] == pytest.approx(
            [one.probability for one in nowhere.candidates]
        )


def test_two_signs_that_agree_are_surer_than_one() -> None:
    phone = says("phone", "+358 9 123", {"FI": 1.0}, 0.9)
    one, both = posterior([FINNISH]), posterior([*on_sign(40, [FINNISH]), *on_sign(600, [phone])])
    assert both.countries["FI"] > max(one.countries["FI"], posterior([phone]).countries["FI"])


def test_what_a_sign_adds_is_no_more_than_its_doubt_allows() -> None:
    found = posterior([*on_sign(40, FEW_OF_HELSINKI), *on_sign(600, MANY_OF_MONACO)])
    helsinki = next(one for one in found.candidates if one.country == "FI")
    against = [part.log_ratio for part in helsinki.contributions if part.clue.seen not in ("Helsinki", "apteekki")]
    assert len(against) == 4
    assert np.log(0.05) < sum(against) < np.log(0.2)
    assert len(helsinki.contradicting) == 4


@pytest.mark.parametrize(("sharp", "speaks"), [(True, -1), (False, 1)])
def test_a_sharp_spot_speaks_for_itself_and_not_for_what_lies_across_a_border(*, sharp: bool, speaks: int) -> None:
    nice = CluePlace("Nice", LatLon(43.70, 7.27), 8.0, 0.9, "FR", sharp=sharp)
    monaco = CluePlace("Monaco", LatLon(43.737, 7.421), 1.6, 0.9, "MC")
    hint = Clue("hint", "Nice", "the user names Nice", 0.75, spots=(nice,))
    found = posterior([hint, Clue("place", "Monaco", "a town", 0.7, spots=(monaco,))])
    at = {one.name: one for one in found.candidates}
    of_hint = {
        name: next(part.log_ratio for part in one.contributions if part.clue == hint) for name, one in at.items()
    }
    assert of_hint["Nice"] > 0
    assert of_hint["Monaco"] * speaks > 0
