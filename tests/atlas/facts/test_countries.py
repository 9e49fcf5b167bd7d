"""Facts of countries: every code has them, and known ones are right."""

import pytest

from geosleuth.atlas.facts import all_countries, country_facts
from geosleuth.atlas.facts.writing_names import LANGUAGE_NAMES, SCRIPT_NAMES
from geosleuth.names.country_names import countries as geonames_countries
from geosleuth.support.errors import BadInput
from in_process import geosleuth


def test_every_iso_code_has_facts() -> None:
    assert set(all_countries()) == set(geonames_countries())
    assert len(all_countries()) == 250


def test_france() -> None:
    france = country_facts("France")
    assert (france.code, france.iso3, france.capital, france.continent) == ("FR", "FRA", "Paris", "Europe")
    assert france.tlds == (".fr",)
    assert france.calling_codes == ("+33",)
    assert [currency.code for currency in france.currencies] == ["EUR"]
    assert "€" in france.currencies[0].symbols
    assert france.languages[0].code == "fr"
    assert france.languages[0].status == "official"
    assert france.scripts[0] == "Latn"
    assert france.road_km == 1_028_446
    assert france.area_km2 == 643_801
    assert 60e6 < france.population < 75e6
    assert set(france.neighbours) == {"AD", "BE", "CH", "DE", "ES", "IT", "LU", "MC"}
    assert france.date_format == "dd/MM/y"
    assert "112" in france.emergency_numbers
    assert france.plate is not None
    assert france.plate.pattern.startswith("AB-123-CD")
    assert france.names["de"] == "Frankreich"
    assert france.names["ja"] == "フランス"


@pytest.mark.parametrize("name", ["JP", "JPN", "Japan", "日本", "Япония", "japon"])
def test_a_country_is_found_by_code_and_name_in_any_language(name: str) -> None:
    japan = country_facts(name)
    assert japan.code == "JP"
    assert (japan.driving_side, japan.speed_unit) == ("left", "km/h")


def test_miles() -> None:
    for code in ("GB", "US"):
        facts = country_facts(code)
        assert (facts.speed_unit, facts.distance_unit) == ("mph", "mi")
    assert (country_facts("PR").speed_unit, country_facts("PR").distance_unit) == ("mph", "km")
    assert country_facts("IE").speed_unit == "km/h"


@pytest.mark.parametrize("name", ["", "Atlantis", "x" * 10_000_000, "'; DROP TABLE", "\x00\x01"], ids=len)
def test_what_is_no_country_is_bad_input_in_one_short_line(name: str) -> None:
    with pytest.raises(BadInput) as caught:
        country_facts(name)
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


def test_scripts_and_the_languages_of_most_people_have_names() -> None:
    for facts in all_countries().values():
        assert set(facts.scripts) <= set(SCRIPT_NAMES), facts.code
        for language in facts.languages[:8]:
            assert LANGUAGE_NAMES.get(language.code, language.name) != language.code, (facts.code, language.code)


def test_the_card_of_a_country_is_in_words() -> None:
    japan = geosleuth("atlas", "country", "Japan").stdout
    for words in ("Central Okinawan", "Japanese (kanji, hiragana, katakana)", "such as 154-0023 or 350-1106"):
        assert words in japan
    assert "000000, where 0 is any digit" in geosleuth("atlas", "country", "North Korea").stdout
    assert "NRU68" in geosleuth("atlas", "country", "Nauru").stdout
