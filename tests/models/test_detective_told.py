"""What a person tells the detective beforehand: an area that may be small, and a hint in words of everyday life."""

import re
from datetime import UTC, datetime, timedelta, timezone
from math import cos, radians
from pathlib import Path
from typing import Any

import pytest

from geosleuth.agent import Trajectory, build_conversation
from geosleuth.answer import Answer
from geosleuth.atlas import OfflineAtlas
from geosleuth.geo import Box, Disc, Extent, LatLon
from geosleuth.models.detective import Detective
from geosleuth.models.detective.stated import countries_named
from geosleuth.server.finding_view import views_of_clues
from homes import add_region
from told_runs import Sight

PHARMACY = ("Farmacia San Marco", "Via Garibaldi 12", "Tel. 0541 782331")
ENGLISH = ("Public Footpath", "Please keep dogs on a lead")
LONDON = ("The Old Bakery", "Tel. 020 7946 0123", "www.oldbakery.co.uk")
SIDES_KM = (100.0, 20.0, 6.0, 2.0, 0.8)


@pytest.fixture
def atlas(atlas_home: Path) -> OfflineAtlas:
    return OfflineAtlas(atlas_home / "regions")


def square(middle: LatLon, side_km: float) -> Box:
    north = side_km / 2 / 111.2
    east = north / cos(radians(middle.lat))
    return Box(middle.lat - north, middle.lon - east, middle.lat + north, middle.lon + east)


def answer_of(found: Trajectory) -> Answer:
    assert found.answer is not None
    return found.answer


def country_of(answer: Answer) -> str | None:
    return answer.address.country.conclusion


@pytest.mark.parametrize(
    ("lines", "truth", "country"),
    [
        (("Principauté de Monaco", "Tel. +377 93 15 28 32"), LatLon(43.73243, 7.41979), "Monaco"),
        (("Boulangerie Chez Martine", "www.chezmartine.fr"), LatLon(45.2, 1.1), "France"),
        pytest.param(PHARMACY, LatLon(44.07, 12.55), "Italy", marks=pytest.mark.slow),
        (("SEOUL 56 km", "PYONGYANG 205 km"), LatLon(37.9, 126.7), "South Korea"),
    ],
    ids=["Monaco", "France", "Rimini", "Seoul"],
)
def test_an_area_makes_an_answer_surer_and_is_never_the_answer_itself(
    atlas: OfflineAtlas, lines: tuple[str, ...], truth: LatLon, country: str
) -> None:
    sight = Sight(atlas, (lines,))
    areas: list[Extent] = [*(square(truth, side) for side in SIDES_KM), Disc(truth, 0.4)]
    free = answer_of(sight.run(Detective()))
    assert country_of(free) == country
    for area, side in zip(areas, (*SIDES_KM, 0.8), strict=True):
        answer = answer_of(sight.run(Detective(within=area)))
        words = answer.explanation or ""
        assert "outside the area" not in words
        assert "Looked for only within the area that was given, as you asked" in words
        if answer.point is None:
            assert not answer.candidates
            continue
        assert country_of(answer) == country
        assert area.contains(answer.point)
        assert (answer.probability or 0.0) >= (free.probability or 0.0)
        assert (answer.radius_km or 0.0) < side


@pytest.mark.parametrize("lines", [("Tel. +377 93 15 28 32", "Boulangerie"), ("Boulangerie Chez Martine",)])
def test_what_fits_an_area_and_tells_nothing_in_it_is_no_finding(atlas: OfflineAtlas, lines: tuple[str, ...]) -> None:
    drawn = Box(43.729376, 7.414524, 43.735485, 7.42506)
    answer = answer_of(Sight(atlas, (lines,)).run(Detective(within=drawn)))
    assert answer.point is None
    assert not answer.candidates
    assert "what was read fits it and names no place in it" in (answer.explanation or "")


@pytest.mark.parametrize(
    "detective",
    [
        Detective(countries=["FR"], hint="by the sea", taken=datetime(2026, 7, 14, 13, 30, tzinfo=UTC)),
        Detective(within=Disc(LatLon(43.73, 7.42), 20.0), drives_on="right"),
        Detective(drives_on="left"),
        Detective(hint="Peru", taken=datetime(2026, 7, 14, 13, 30, tzinfo=UTC)),
        Detective(taken=datetime(2026, 7, 14, 13, 30, tzinfo=UTC)),
    ],
)
def test_what_was_said_comes_back_as_no_finding(atlas: OfflineAtlas, detective: Detective) -> None:
    answer = answer_of(Sight(atlas, ((),)).run(detective))
    assert answer.point is None
    assert all(one.probability is None or one.probability < 0.5 for one in answer.candidates)
    assert {one.name for one in answer.candidates}.isdisjoint({"France", "United States", "China"})


def test_a_time_keeps_the_reason_and_says_what_daylight_means(atlas: OfflineAtlas) -> None:
    afternoon = datetime(2026, 7, 14, 15, 30, tzinfo=timezone(timedelta(hours=2)))
    words = answer_of(Sight(atlas, ((),)).run(Detective(taken=afternoon))).explanation or ""
    assert words.startswith("No readable text found. ")
    assert "the photo is bright, so it was taken where the sun was up at 2026-07-14 15:30 UTC+02:00" in words


@pytest.mark.parametrize(
    ("area", "words"),
    [({"countries": ["NI"]}, "Nicaragua"), ({"within": Disc(LatLon(11.93, -85.96), 20.0)}, "the area that was given")],
)
@pytest.mark.parametrize(
    ("lines", "opening"), [((), "Against that speaks"), (("WELCOME TO GRANADA",), "Against it speaks")]
)
def test_night_in_the_area_that_was_given_is_said(
    atlas: OfflineAtlas, area: dict[str, Any], words: str, lines: tuple[str, ...], opening: str
) -> None:
    night, noon = (
        answer_of(Sight(atlas, (lines,)).run(Detective(**area, taken=datetime(2026, 7, 14, hour, tzinfo=UTC))))
        for hour in (6, 18)
    )
    said = f"{opening} the time: at 2026-07-14 06:00 UTC it was night in all of {words}, and the photo is bright"
    assert said in (night.explanation or "")
    assert "speaks the time" not in (noon.explanation or "")


def test_an_answer_within_an_area_says_that_it_holds_only_there(atlas: OfflineAtlas) -> None:
    answer = answer_of(Sight(atlas, (("WELCOME TO GRANADA",),)).run(Detective(countries=["NI"])))
    assert country_of(answer) == "Nicaragua"
    assert "Looked for only within Nicaragua, as you asked: the " in (answer.explanation or "")


def test_advice_names_no_option_that_was_used(atlas: OfflineAtlas) -> None:
    used = Detective(countries=["FR"], hint="by the sea", seen="palm trees")
    words = answer_of(Sight(atlas, ((),)).run(used)).explanation or ""
    assert "Connect a vision model" in words
    assert not any(option in words for option in ("--seen", "--hint", "--within"))


def test_an_area_far_from_what_was_read_is_still_contradicted(atlas: OfflineAtlas) -> None:
    area = square(LatLon(35.68, 139.76), 2.0)
    answer = answer_of(Sight(atlas, (PHARMACY,)).run(Detective(within=area)))
    assert re.match(
        r"All clues point to Rimini, Italy, 9,\d+\skm outside the area that was given\.", answer.explanation or ""
    )


@pytest.mark.parametrize(
    "hint",
    [
        "perhaps on an island", "Island life", "PERHAPS ON AN ISLAND", "on the Island of Crete", "Long Island",
        "turkey dinner", "Turkey dinner", "we ate turkey", "Chad took this", "my friend Chad", "a blue jersey",
        "New Jersey", "guinea pig", "china cups", "China cups", "an old man", "South America", "new mexico",
    ],
)  # fmt: skip
def test_everyday_words_name_no_country(hint: str) -> None:
    assert countries_named(hint) == {}


@pytest.mark.parametrize(
    ("hint", "codes"),
    [
        ("maybe Iceland", {"IS"}), ("iceland", {"IS"}), ("auf Island", {"IS"}), ("france", {"FR"}), ("Turkey", {"TR"}),
        ("in turkey last year", {"TR"}), ("we love Turkey", {"TR"}), ("in Chad", {"TD"}), ("jersey", {"JE"}),
        ("Georgia", {"GE"}), ("Georgia, USA", {"US"}), ("papua new guinea", {"PG"}), ("from china", {"CN"}),
        ("oman", {"OM"}), ("in Oman", {"OM"}), ("Deutschland", {"DE"}), ("日本", {"JP"}), ("UK or USA", {"GB", "US"}),
        ("Isle of Man", {"IM"}), ("Japan, I think", {"JP"}), ("the netherlands", {"NL"}), ("england", {"GB"}),
        ("bosnia and herzegovina", {"BA"}), ("It is in the South of France", {"FR"}),
    ],
)  # fmt: skip
def test_what_is_written_as_a_name_names_its_country(hint: str, codes: set[str]) -> None:
    assert set(countries_named(hint)) == codes


def test_an_area_beside_a_spot_says_how_far_the_spot_lies_outside(atlas_home: Path) -> None:
    add_region(Path(__file__).parents[2] / "examples" / "regions" / "monaco.osm.pbf", atlas_home / "regions")
    atlas = OfflineAtlas(atlas_home / "regions")
    sight = Sight(atlas, (("L'Epi d'Or", "Rue Grimaldi", "+377 93 30 23 45"),))
    free = answer_of(sight.run())
    assert free.point is not None
    beside = square(LatLon(free.point.lat + 0.008, free.point.lon), 0.55)
    told = answer_of(sight.run(Detective(within=beside).naming_area("the area that you drew")))
    assert not told.located
    place = "L'Épi d'Or, (La Condamine, )?Monaco"
    assert re.match(rf"All clues point to {place}, 6\d\d\sm outside the area that you drew\.", told.explanation or "")
    assert "too weak" not in (told.explanation or "")


@pytest.mark.parametrize(
    ("hint", "place", "country"),
    [
        ("my uncle once went to Peru", "Peru", "Peru"),
        ("United Arab Emirates", "United Arab Emirates", "United Arab Emirates"),
        ("It was near Osaka", "Osaka, Japan", "Japan"),
    ],
)
def test_a_hint_alone_is_no_finding(atlas: OfflineAtlas, hint: str, place: str, country: str) -> None:
    answer = answer_of(Sight(atlas, ()).run(Detective(hint=hint)))
    assert not answer.located
    assert f"No readable text found. Only your hint names a place: {place}." in (answer.explanation or "")
    assert [(one.name, one.probability) for one in answer.candidates] == [(country, None)]


def test_a_hint_without_a_place_is_named(atlas: OfflineAtlas) -> None:
    answer = answer_of(Sight(atlas, ()).run(Detective(hint="by the sea")))
    assert not answer.located
    assert 'Your hint "by the sea" names no place that is known here.' in (answer.explanation or "")


def test_a_hint_that_agrees_with_a_clue_counts(atlas: OfflineAtlas) -> None:
    sight = Sight(atlas, (PHARMACY[:1],))
    unhinted, hinted = answer_of(sight.run()), answer_of(sight.run(Detective(hint="Italy")))
    assert country_of(hinted) == "Italy"
    assert (hinted.probability or 0.0) > (unhinted.probability or 0.0)
    assert "the hint" in (hinted.explanation or "")


def test_a_hint_may_lead_and_does_not_outweigh_clear_text(atlas: OfflineAtlas) -> None:
    plain, clear = Sight(atlas, (ENGLISH,)), Sight(atlas, (LONDON,))
    unhinted = answer_of(plain.run())
    island = answer_of(plain.run(Detective(hint="perhaps on an island")))
    assert (country_of(island), island.probability) == (country_of(unhinted), unhinted.probability)
    said = answer_of(plain.run(Detective(hint="Iceland")))
    assert not said.located
    assert "Only your hint speaks for Iceland." in (said.explanation or "")
    assert [one.name for one in said.candidates][-1] == "Iceland"
    agreed = [answer_of(plain.run(Detective(hint=hint))) for hint in ("maybe Australia", "Australia")]
    assert [country_of(one) for one in agreed] == ["Australia"] * 2
    assert (agreed[0].probability or 0.0) < (agreed[1].probability or 0.0)
    for hint in ("maybe Iceland", "Iceland", "perhaps on an island"):
        assert country_of(answer_of(clear.run(Detective(hint=hint)))) == "United Kingdom"


def test_a_name_of_many_places_is_worded_for_the_one_that_it_speaks_for(atlas: OfflineAtlas) -> None:
    sight, policy = Sight(atlas, (("WELCOME TO GRANADA",),)), Detective(hint="It was in Colombia")
    found = sight.run(policy)
    assert country_of(answer_of(found)) == "Colombia"
    picture = sight.case.album.__getitem__
    told = build_conversation(found.events, context=sight.method.context, tools=sight.toolset, picture=picture)
    views = views_of_clues(policy.review(told), {}, {})
    name = next(view for view in views if view["kind"] == "place")
    assert name["supports"]
    assert name["says"] == '"GRANADA" may be Granada, Colombia'


def test_a_name_that_was_found_weakly_is_not_said_to_stand_on_no_map(atlas: OfflineAtlas) -> None:
    words = answer_of(Sight(atlas, (("桥下",),)).run()).explanation or ""
    assert '"桥下" was found only weakly (Qiaoxia)' in words
    assert "on no map" not in words


@pytest.mark.parametrize(("hint", "most"), [("Colchester", 0.75), ("maybe Norwich", 0.5), ("Exeter, not sure", 0.5)])
def test_a_finding_that_rests_on_a_hint_is_no_surer_than_hints_are(atlas: OfflineAtlas, hint: str, most: float) -> None:
    answer = answer_of(Sight(atlas, (ENGLISH,)).run(Detective(hint=hint)))
    assert answer.located
    assert 0.3 < (answer.probability or 0.0) <= most
    assert "the hint" in (answer.explanation or "")


def test_a_hint_adds_to_what_the_photo_says_alone(atlas: OfflineAtlas) -> None:
    sight = Sight(atlas, (PHARMACY[:1],))
    alone = answer_of(sight.run()).probability or 0.0
    for hint, trust in (("Italy", 0.75), ("maybe Italy", 0.5)):
        together = answer_of(sight.run(Detective(hint=hint))).probability or 0.0
        assert alone < together <= round(1 - (1 - alone) * (1 - trust), 3) + 0.001


def test_a_hint_that_denies_is_named(atlas: OfflineAtlas) -> None:
    sight = Sight(atlas, (PHARMACY[:1],))
    denied, plain = answer_of(sight.run(Detective(hint="not Peru"))), answer_of(sight.run())
    assert denied.probability == plain.probability
    assert 'Your hint "not Peru" was left out' in (denied.explanation or "")


def test_a_hint_that_the_photo_has_too_is_not_called_unknown(atlas: OfflineAtlas) -> None:
    answer = answer_of(Sight(atlas, (("Reisen Innsbruck",),)).run(Detective(countries=["AT"], hint="Innsbruck")))
    assert "names no place that is known" not in (answer.explanation or "")


@pytest.mark.parametrize(
    ("hint", "speaks"),
    [("maybe Nice", -1), ("Nice", -1), ("maybe France", -1), ("Monaco", 1)],
)
def test_a_hint_speaks_for_what_it_names_and_against_the_rest(atlas: OfflineAtlas, hint: str, speaks: int) -> None:
    sight, policy = Sight(atlas, (("Principauté de Monaco", "Tel. +377 93 15 28 32"),)), Detective(hint=hint)
    found = sight.run(policy)
    assert country_of(answer_of(found)) == "Monaco"
    picture = sight.case.album.__getitem__
    told = build_conversation(found.events, context=sight.method.context, tools=sight.toolset, picture=picture)
    said = next(view for view in views_of_clues(policy.review(told), {}, {}) if view["kind"] == "hint")
    ratios = [one["log_ratio"] or 0.0 for one in said["supports"] if one["country"] == "MC"]
    assert ratios
    assert all(ratio * speaks > 0 for ratio in ratios)
