"""Brands: found through case, accents and misreadings, with the countries where they are."""

import pytest

from geosleuth.atlas.facts import brand, by_brand


@pytest.mark.parametrize("text", ["Migros", "MIGROS", " migros "])
def test_a_brand_of_few_countries(text: str) -> None:
    hit = brand(text)[0]
    assert hit.how == "exact"
    assert hit.score == 1
    assert hit.brand.kind == "shop=supermarket"
    assert hit.countries is not None
    assert "CH" in hit.countries
    assert "US" not in hit.countries


def test_small_misreadings_are_forgiven_and_said() -> None:
    hit = brand("CARREF0UR")[0]
    assert hit.brand.name == "Carrefour"
    assert hit.how == "fuzzy"
    assert hit.score < 1
    assert brand("Sainsburvs")[0].brand.name == "Sainsbury's"
    assert brand("Alb ert Hei jn")[0].brand.name == "Albert Heijn"


def test_a_brand_among_other_words() -> None:
    hits = brand("Albert Heijn supermarkt open")
    assert hits[0].brand.name == "Albert Heijn"
    assert hits[0].how == "within"
    assert by_brand("Albert Heijn supermarkt open").countries[0] == "NL"


def test_native_names() -> None:
    assert by_brand("スターバックス").countries == ("JP",)
    assert brand("スターバックス")[0].brand.wikidata == "Q37158"


def test_the_widest_spread_of_a_name_comes_first() -> None:
    hits = brand("McDonald's")
    assert hits[0].brand.name == "McDonald's"
    assert hits[0].countries is None or len(hits[0].countries) > 100


def test_a_brand_of_nearly_the_whole_world_names_the_rest() -> None:
    hit = next(hit for hit in brand("7-Eleven") if hit.brand.kind == "shop=convenience")
    assert hit.countries is None
    assert "JP" in hit.except_countries
    assert len(hit.except_countries) < 20
    found = by_brand("7-Eleven")
    assert found.countries == ()
    assert "all over the world" in found.note


@pytest.mark.parametrize(("text", "name"), [("OXX0", "Oxxo"), ("LID1", "Lidl"), ("A5DA", "Asda")])
def test_look_alike_letters_of_short_names(text: str, name: str) -> None:
    hit = brand(text)[0]
    assert hit.brand.name == name
    assert hit.how == "fuzzy"
    assert hit.score < 0.95


@pytest.mark.parametrize("number", ["10", "100", "5018"])
def test_a_number_is_not_a_misread_name(number: str) -> None:
    assert all(hit.how == "exact" for hit in brand(number))


@pytest.mark.parametrize(
    "text", ["", " ", "\x00", "?!", "q" * 10_000_000, "zzzzqqqqxxxx", "' OR 1=1", "\ud800"], ids=len
)
def test_nothing_is_found_in_nonsense(text: str) -> None:
    assert brand(text) == []
    assert not by_brand(text)
