"""The detective on what stands on real signs: the answer that a careful person gives from the text alone."""

import asyncio
from pathlib import Path

import pytest

from geosleuth.atlas import OfflineAtlas
from geosleuth.evidence import country_prior, text_clues
from geosleuth.geo import Disc, LatLon, distance_km
from geosleuth.models.detective import Detective
from sign_bench import SignOutcome, work_on, work_on_all
from sign_texts import SignText, sign_texts

RIGHT, RIGHT_HELD_OUT = 0.9, 0.85
"""The least shares, a little below what was measured; the second is of signs held out."""


@pytest.fixture
def atlas(atlas_home: Path) -> OfflineAtlas:
    return OfflineAtlas(atlas_home / "regions")


def told(outcomes: list[SignOutcome]) -> str:
    return "\n".join(one.told() for one in outcomes if one.fault)


def explained(outcome: SignOutcome) -> str:
    assert outcome.answer.explanation is not None
    return outcome.answer.explanation


def sign(*lines: str) -> SignText:
    return SignText("road", lines, frozenset(), None, 0.0)


def few(*names: str) -> list[SignText]:
    return [one for one in sign_texts() if one.name in names]


def test_there_are_many_signs_of_every_kind_from_many_countries() -> None:
    signs = sign_texts()
    assert len(signs) == len({one.name for one in signs}) > 180
    assert len({code for one in signs for code in one.countries}) > 60
    assert sum(one.held_out for one in signs) > 50


@pytest.mark.slow
def test_most_signs_get_the_answer_of_a_careful_person(atlas: OfflineAtlas) -> None:
    outcomes = work_on_all(sign_texts(), atlas)
    for held_out, least in ((False, RIGHT), (True, RIGHT_HELD_OUT)):
        half = [one for one in outcomes if one.sign.held_out == held_out]
        assert sum(one.fault is None for one in half) >= least * len(half), told(half)


def test_a_few_of_them(atlas: OfflineAtlas) -> None:
    names = (
        "Bad Tölz", "Praha 1", "Welcome to Whitby / Please drive carefully", "Lucky Star",
        "Leeds 97 / Bristol 145 / Inverness 383", "Lyon 210 km / Marseille 98 km",
        "Joe's Diner / Springfield, IL 62701 / (217) 555-0142", "Parqueadero / Se arrienda",
        "Pizzeria Napoli / Öffnungszeiten / Dienstag geschlossen",
    )  # fmt: skip
    signs = few(*names)
    assert len(signs) == len(names)
    outcomes = work_on_all(signs, atlas)
    assert not told(outcomes)


def test_a_sign_with_distances_says_where_they_meet_in_plain_words(atlas: OfflineAtlas) -> None:
    words = explained(asyncio.run(work_on(sign("Москва 120 км", "Тула 65 км"), atlas)))
    assert "meet near" in words
    assert "at near" not in words


def test_one_distance_is_a_ring_and_not_the_town(atlas: OfflineAtlas) -> None:
    outcome = asyncio.run(work_on(sign("Reykjavík 50 km"), atlas))
    assert outcome.answer.radius_km is not None
    assert outcome.answer.radius_km >= 35
    assert "50 km from it" in explained(outcome)


@pytest.mark.parametrize(
    ("text", "more", "less"),
    [
        ("Car Park", "GB", "US"),
        ("Parking lot", "US", "GB"),
        ("GIVE / WAY", "GB", "US"),
        ("Aparcamiento", "ES", "MX"),
        ("Estacionamiento / Se renta", "MX", "ES"),
        ("Autocarros", "PT", "BR"),
        ("Ônibus", "BR", "PT"),
        ("Dépanneur", "CA", "FR"),
        ("Tabak Trafik", "AT", "DE"),
        ("Bahnhofstrasse", "CH", "DE"),
        ("Kolodvor", "HR", "RS"),
        ("小心地滑 / 停車場", "TW", "CN"),
        ("小心地滑 / 停车场", "CN", "TW"),
    ],
)
def test_wording_tells_countries_of_one_language_apart(text: str, more: str, less: str) -> None:
    clues = [clue for clue in text_clues(sign(*text.split(" / ")).seen()) if "as some countries" in clue.says]
    [clue] = clues
    prior = country_prior()
    assert clue.countries[more] / prior[more] > 3 * clue.countries[less] / prior[less]
    assert clue.countries[less] > 0
    assert clue.reliability < 0.8


def test_capitals_have_no_sharp_s_and_so_tell_nothing() -> None:
    assert not [clue for clue in text_clues(sign("BAHNHOFSTRASSE").seen()) if "as some countries" in clue.says]


def test_an_area_that_all_clues_contradict_is_said_first(atlas: OfflineAtlas) -> None:
    austria = Detective(within=Disc(LatLon(48.2, 16.4), 100.0))
    outcome = asyncio.run(work_on(sign("Göteborg", "Öppettider", "031-123 45 67", "www.kanal.se"), atlas, austria))
    said = "All clues point to Gothenburg, Sweden, 997\u202fkm outside the area that was given."
    assert explained(outcome).startswith(said)


def test_the_area_of_a_telephone_number_is_its_own_evidence_and_as_wide_as_an_area(atlas: OfflineAtlas) -> None:
    outcome = asyncio.run(work_on(sign("+39 0541 783456"), atlas))
    assert outcome.answer.radius_km is not None
    assert outcome.answer.radius_km >= 25
    assert (outcome.answer.probability or 1.0) < 0.9
    assert "place name" not in explained(outcome)
    assert "telephone number of Rimini" in explained(outcome)


def test_a_name_over_a_shop_is_no_town_and_the_area_code_decides(atlas: OfflineAtlas) -> None:
    lines = ("Papelaria Oliveira", "Tel. 239 824 112", "www.papelaria.pt")
    outcome = asyncio.run(work_on(sign(*lines), atlas))
    assert outcome.answer.address.precise.conclusion == "Coimbra"
    assert "Portugal is" in explained(outcome)
    assert "Angola" not in explained(outcome)
    without = asyncio.run(work_on(sign(lines[0], lines[2]), atlas))
    assert without.country == "PT"
    assert without.answer.address.precise.conclusion is None


def test_a_country_is_answered_without_its_capital(atlas: OfflineAtlas) -> None:
    outcome = asyncio.run(work_on(sign("Pékség", "Nyitva", "490 Ft"), atlas))
    assert outcome.answer.address.region.conclusion is None
    assert "Budapest" not in explained(outcome)
    assert "feet" not in explained(outcome)
    assert (outcome.answer.radius_km or 0.0) > 170


def test_a_postcode_says_that_the_city_is_meant_and_not_its_region(atlas: OfflineAtlas) -> None:
    outcome = asyncio.run(work_on(sign("28013 Madrid"), atlas))
    assert (outcome.answer.radius_km or 1000.0) < 30


def test_advice_does_not_ask_for_what_was_read(atlas: OfflineAtlas) -> None:
    unread = asyncio.run(work_on(sign("SPEED", "WA 12345"), atlas))
    assert "on no map" not in explained(unread)
    assert "Connect a vision model" in explained(unread)
    read = explained(asyncio.run(work_on(sign("+39 0541 783456"), atlas)))
    assert "a telephone number in it" not in read


@pytest.mark.parametrize(
    ("text", "country", "lat", "lon", "within_km"),
    [
        ("14e Arr. / RUE DAGUERRE", "FR", 48.83, 2.33, 15.0),
        ("Bus Stop / Harrogate Road / towards Leeds", "GB", 53.88, -1.54, 30.0),
        ("Welcome to Sydney / Nova Scotia", "CA", 46.14, -60.18, 30.0),
        ("M25 / Heathrow", "GB", 51.47, -0.45, 30.0),
    ],
)
def test_what_stands_around_a_name_says_which_place_is_meant(
    atlas: OfflineAtlas, text: str, country: str, lat: float, lon: float, within_km: float
) -> None:
    outcome = asyncio.run(work_on(sign(*text.split(" / ")), atlas))
    assert outcome.country == country
    assert outcome.answer.point is not None
    assert distance_km(outcome.answer.point, LatLon(lat, lon)) <= within_km


def test_a_name_of_several_places_is_worded_for_the_one_that_is_answered(atlas: OfflineAtlas) -> None:
    words = explained(asyncio.run(work_on(sign("M25", "Heathrow"), atlas)))
    assert '"Heathrow"' in words
    assert "London Heathrow Airport, United Kingdom" in words
    assert "Florida" not in words


def test_a_town_that_lies_ahead_is_not_where_the_sign_stands(atlas: OfflineAtlas) -> None:
    for text in ("Bus Stop / Harrogate Road / towards Leeds", "M25 / Heathrow"):
        outcome = asyncio.run(work_on(sign(*text.split(" / ")), atlas))
        assert (outcome.answer.radius_km or 0.0) >= 20, text


@pytest.mark.parametrize("text", ["WA 12345", "Victoria", "Florence"])
def test_a_plate_and_a_first_name_get_no_confident_place(atlas: OfflineAtlas, text: str) -> None:
    assert not asyncio.run(work_on(sign(text), atlas)).sure


def test_a_kitchen_is_called_after_a_town_far_away(atlas: OfflineAtlas) -> None:
    outcome = asyncio.run(work_on(sign("Ristorante Venezia", "Öppettider", "Stängt söndag"), atlas))
    assert outcome.country == "SE"


def test_french_alone_leans_to_france_with_honest_odds(atlas: OfflineAtlas) -> None:
    outcome = asyncio.run(work_on(sign("Ouvert du lundi au samedi", "Fermé le dimanche"), atlas))
    assert outcome.country == "FR"
    assert 0.15 <= (outcome.answer.probability or 0.0) <= 0.4
    assert "Canada" in explained(outcome)


def test_a_number_of_another_area_is_no_word_for_the_town(atlas: OfflineAtlas) -> None:
    outcome = asyncio.run(work_on(sign("80000 أكادير", "+212 5 28 77 82 10"), atlas))
    words = explained(outcome)
    assert outcome.answer.address.precise.conclusion == "Agadir"
    assert "Against it speaks a telephone number" in words
    assert words.index("Guelmim") > words.index("Against it")
    first = outcome.answer.candidates[0].evidence or ""
    assert "telephone number" not in first.partition("Against:")[0]


def test_a_park_that_is_called_after_a_town_may_lie_a_little_outside(atlas: OfflineAtlas) -> None:
    lines = ("Sports Centre", "Wivenhoe Park", "Conference Centre", "Car Parks")
    outcome = asyncio.run(work_on(sign(*lines), atlas))
    university = LatLon(51.877, 0.947)
    assert outcome.answer.point is not None
    assert distance_km(outcome.answer.point, university) <= (outcome.answer.radius_km or 0.0)


def test_a_number_does_not_bear_out_a_hint(atlas: OfflineAtlas) -> None:
    outcome = asyncio.run(work_on(sign("118"), atlas, Detective(hint="Monaco")))
    assert not outcome.answer.located
    assert "Only your hint" in explained(outcome)


def test_rivals_are_worded_for_their_own_country(atlas: OfflineAtlas) -> None:
    outcome = asyncio.run(work_on(sign("Ouvert du lundi au samedi", "Fermé le dimanche"), atlas))
    for candidate in outcome.answer.candidates:
        assert f"{candidate.name} is" in (candidate.evidence or ""), candidate


@pytest.mark.parametrize(
    ("lines", "on_no_map"),
    [
        (("ร้านหนังสือ", "ยินดีต้อนรับ", "ห้ามจอด"), None),
        (("Apotheke am Markt", "Öffnungszeiten", "Bitte nicht parken"), None),
        (("Bäckerei Hinterhuber", "Öffnungszeiten", "Bitte nicht parken"), "Bäckerei Hinterhuber"),
    ],
)
def test_a_map_is_suggested_for_names_and_not_for_words_of_signs(
    atlas: OfflineAtlas, lines: tuple[str, ...], on_no_map: str | None
) -> None:
    words = explained(asyncio.run(work_on(sign(*lines), atlas)))
    assert "What would help" in words
    if on_no_map is None:
        assert "on no map of this machine" not in words
    else:
        assert f'"{on_no_map}" stands on no map of this machine' in words
