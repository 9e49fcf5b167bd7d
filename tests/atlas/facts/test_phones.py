"""Telephone numbers: country, place, kind; national numbers tried everywhere."""

import pytest

from geosleuth.atlas.facts import phone


def test_an_international_number_tells_its_town() -> None:
    info = phone("+44 20 7946 0018")
    assert info.valid
    assert (info.country, info.place, info.kind) == ("GB", "London", "fixed line")
    assert info.e164 == "+442079460018"
    assert info.national == "020 7946 0018"
    assert info.time_zones == ("Europe/London",)


def test_monaco_and_shared_codes() -> None:
    assert phone("+377 93 15 20 20").country == "MC"
    assert phone("0039 06 698 83712").country in {"IT", "VA"}
    bahamas = phone("+1 242 322 1234")
    assert (bahamas.country, bahamas.place) == ("BS", "New Providence")


def test_a_hint_makes_a_national_number_plain() -> None:
    info = phone("03-3211-5211", region="JP")
    assert (info.country, info.place, info.e164) == ("JP", "Tokyo", "+81332115211")


def test_a_national_number_is_tried_everywhere_and_grouping_ranks() -> None:
    french = phone("04 93 13 75 00")
    assert french.valid
    assert french.country is None
    assert french.countries[0] == "FR"
    assert french.same_grouping == ("FR",)
    assert {"IT", "DE"} <= set(french.countries)
    assert french.places["IT"] == "Padova"
    assert phone("(212) 555-2368").countries[0] == "US"


@pytest.mark.parametrize(
    "text",
    ["", "abc", "+", "0", "+999999999999", "1" * 10_000_000, "\x00\x1b", "+33" + "0" * 500, "' OR 1=1", "☎", "++--"],
    ids=len,
)
def test_what_is_no_number_is_not_valid(text: str) -> None:
    info = phone(text)
    assert not info.valid
    assert info.countries == ()


def test_an_unknown_region_hint_is_ignored() -> None:
    assert phone("+33 1 42 68 53 00", region="Mars").country == "FR"
