"""Facts of countries and brands, as tools tell them."""

import pytest

from geosleuth.tools.facts import brand_lookup, country_facts
from tool_cases import call, case_of


def test_a_country_is_found_by_any_of_its_names() -> None:
    for name in ("Thailand", "TH", "ไทย", "Thaïlande"):
        seen = call(country_facts, case_of(), {"country": name})
        assert seen.data["code"] == "TH"
    assert "driving side: left" in seen.text
    assert "+66" in seen.text
    assert "Laos" in seen.text
    assert seen.sources == ("geosleuth facts",)


@pytest.mark.parametrize("name", ["Atlantis", "", "  "])
def test_no_such_country(name: str) -> None:
    seen = call(country_facts, case_of(), {"name": name})
    assert seen.failure == "refused"
    assert "such as" in seen.text


def test_a_brand_tells_its_countries() -> None:
    seen = call(brand_lookup, case_of(), {"brand": "7-E1even"})
    assert seen.data["results"][0]["match"] == "fuzzy"
    local = call(brand_lookup, case_of(), {"name": "Monoprix"})
    assert {"FR", "TN"} <= set(local.data["shares"])
    assert sum(local.data["shares"].values()) == pytest.approx(1)
    assert "France 8" in local.text
    assert local.sources == ("name-suggestion-index",)


def test_a_brand_of_the_whole_world_is_said_to_say_little() -> None:
    seen = call(brand_lookup, case_of(), {"name": "McDonald's"})
    assert seen.data["shares"] == {}
    assert "rules out next to nothing" in seen.text
    assert "except" not in seen.text


def test_unknown_and_empty_brands() -> None:
    unknown = call(brand_lookup, case_of(), {"name": "Qzxv Wkkj"})
    assert (unknown.failure, unknown.data["results"]) == (None, [])
    assert "No brand" in unknown.text
    assert call(brand_lookup, case_of(), {"name": ""}).failure == "refused"


def test_a_common_word_inside_another_name_is_no_brand() -> None:
    assert call(brand_lookup, case_of(), {"name": "Hotel New York"}).data["results"] == []
    for name in ("Lidl Supermarkt", "Monoprix Paris"):
        assert call(brand_lookup, case_of(), {"name": name}).data["results"], name
