"""Clues to countries: domains, calling codes, currencies, postcodes, languages, rules of the road."""

import math
import time
from collections.abc import Callable

import pytest

from geosleuth.atlas.facts import (
    Evidence,
    by_brand,
    by_calling_code,
    by_currency,
    by_language,
    by_postcode,
    by_road_number,
    by_script,
    by_speed_unit,
    by_tld,
)

TEXT_LOOKUPS: list[Callable[[str], Evidence]] = [
    by_tld,
    by_calling_code,
    by_currency,
    by_postcode,
    by_language,
    by_brand,
    lambda text: by_script(text).evidence,
    lambda text: by_road_number(text).evidence,
]
HOSTILE = [
    "",
    " ",
    "\x00",
    "\x07\x1b[31m",
    "' OR 1=1 --",
    '" NEAR( AND *',
    "(" * 5000,
    "9" * 5000,
    "A" * 10_000_000,
    "٠١٢",
    "\ud800",
    "\u202e\u202e",
    "a" * 199 + "\u0301" * 5000,
]


@pytest.mark.parametrize(
    ("address", "country"),
    [
        (".mc", "MC"),
        ("www.bbc.co.uk", "GB"),
        ("mail@firma.de", "DE"),
        ("https://shop.jp/a.fr?x=.it", "JP"),
        (".рф", "RU"),
        ("a.xn--p1ai", "RU"),
        (".paris", "FR"),
        ("gov", "US"),
    ],
)
def test_tld(address: str, country: str) -> None:
    evidence = by_tld(address)
    assert evidence.countries == (country,)


def test_domains_sold_to_anyone_come_with_a_caution() -> None:
    assert by_tld("twitch.tv").caution
    assert by_tld("lemonde.fr").caution is None
    assert len(by_tld("europa.eu").countries) == 27
    assert not by_tld("example.com")


@pytest.mark.parametrize(
    ("number", "countries"),
    [
        ("+377 93 15", {"MC"}),
        ("0033 4", {"FR"}),
        ("+1 242", {"BS"}),
        ("+44 1534", {"JE"}),
        ("+7", {"RU", "KZ"}),
        ("+383", {"XK"}),
    ],
)
def test_calling_code(number: str, countries: set[str]) -> None:
    assert set(by_calling_code(number).countries) == countries


@pytest.mark.parametrize(
    ("price", "countries"),
    [
        ("Kč", {"CZ"}),
        ("12,50 Kč", {"CZ"}),
        ("CHF", {"CH", "LI"}),
        ("Fr. 5.-", {"CH", "LI"}),
        ("R$ 10", {"BR"}),
        ("zł", {"PL"}),
        ("円", {"JP"}),
        ("500 Ft", {"HU"}),
        ("₹", {"IN", "BT"}),
    ],
)
def test_currency(price: str, countries: set[str]) -> None:
    assert set(by_currency(price).countries) == countries


def test_shared_currency_signs() -> None:
    assert {"SE", "NO", "DK", "IS"} <= set(by_currency("kr").countries)
    assert {"US", "CA", "MX", "AU"} <= set(by_currency("$").countries)
    euro = by_currency("€")
    assert {"FR", "DE", "MC", "ME", "XK"} <= set(euro.countries)
    assert "GB" not in euro.countries


def test_postcode_says_how_discriminating_it_is() -> None:
    assert by_postcode("SW1A 1AA").countries == ("GB",)
    assert by_postcode("sw1a 1aa").countries == ("GB",)
    assert by_postcode("1012 AB").countries == ("NL",)
    roman = by_postcode("00100")
    assert {"IT", "KE", "FI"} <= set(roman.countries)
    assert roman.regions["IT"] == "Roma"
    monaco = by_postcode("98000").shares
    assert monaco["MC"] > 0.002
    assert math.isclose(sum(monaco.values()), 1)
    assert by_postcode("150-0002").regions["JP"] == "Tokyo"
    assert by_postcode("90210").regions["US"] == "California"


def test_language() -> None:
    assert by_language("ja").countries[0] == "JP"
    assert by_language("Deutsch").clue == by_language("German").clue == by_language("de-AT").clue == "de"
    assert set(by_language("German").countries) >= {"DE", "AT", "CH"}
    assert by_language("pt").countries[0] == "BR"
    assert not by_language("Klingonese")


def test_rules_of_the_road() -> None:
    assert by_speed_unit("mph").countries[:2] == ("US", "GB")


@pytest.mark.parametrize("look_up", TEXT_LOOKUPS)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_gives_evidence_or_none(look_up: Callable[[str], Evidence], text: str) -> None:
    start = time.thread_time()
    evidence = look_up(text)
    assert time.thread_time() - start < 10
    assert len(evidence.clue) < 1000
