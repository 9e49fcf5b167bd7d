"""What a thing is, and what a person's word for it means."""

import pytest

from geosleuth.atlas.regions.addresses import split_address, split_crossing
from geosleuth.atlas.regions.feature_kinds import category_kinds, classify_feature, is_area, matching_kinds
from geosleuth.atlas.regions.tags import address_line, index_names
from geosleuth.atlas.search import ATTRIBUTE, MAIN, OTHER


@pytest.mark.parametrize(
    ("tags", "kind"),
    [
        ({"amenity": "cafe", "building": "yes"}, "amenity=cafe"),
        ({"building": "yes", "shop": "bakery;cafe"}, "shop=bakery"),
        ({"highway": "bus_stop", "public_transport": "platform"}, "public_transport=platform"),
        ({"shop": "no", "tourism": "hotel"}, "tourism=hotel"),
        ({"source": "survey"}, None),
    ],
)
def test_the_most_telling_tag_is_the_kind(tags: dict[str, str], kind: str | None) -> None:
    assert classify_feature(tags, named=True) == kind


def test_nameless_things_count_only_where_someone_would_look_for_them() -> None:
    assert classify_feature({"amenity": "bench"}, named=False) == "amenity=bench"
    assert classify_feature({"highway": "residential"}, named=False) is None
    assert classify_feature({"building": "yes"}, named=False) is None


@pytest.mark.parametrize(
    ("tags", "area"),
    [
        ({"building": "yes"}, True),
        ({"highway": "residential"}, False),
        ({"highway": "pedestrian", "area": "yes"}, True),
        ({"natural": "coastline"}, False),
        ({"natural": "water"}, True),
        ({"leisure": "track"}, False),
        ({"leisure": "park", "area": "no"}, False),
        ({"waterway": "river"}, False),
        ({"waterway": "riverbank"}, True),
    ],
)
def test_which_closed_ways_are_ground(tags: dict[str, str], area: bool) -> None:
    assert is_area(tags) is area


def test_words_for_categories() -> None:
    present = ["amenity=cafe", "amenity=fuel", "shop=bakery", "shop=books", "highway=residential", "highway=bus_stop"]
    expected = {
        "cafes": ["amenity=cafe"],
        "Gas Station": ["amenity=fuel"],
        "shop": ["shop=bakery", "shop=books"],
        "shop=*": ["shop=bakery", "shop=books"],
        "bakeries": ["shop=bakery"],
        "streets": ["highway=residential"],
        "bus stops": ["highway=bus_stop"],
        "yes": [],
        "": [],
        "=": [],
    }
    assert {word: matching_kinds(word, present) for word in expected} == expected
    assert category_kinds("amenity=ice_cream") == ("amenity=ice_cream",)


def test_every_name_in_every_language_with_its_role() -> None:
    tags = {
        "name": "Helsinki",
        "name:sv": "Helsingfors",
        "alt_name": "Stadi;Hesa",
        "old_name:ru": "Гельсингфорс",
        "brand": "City",
        "phone": "+358 9 1234",
        "ref": "091",
        "name:etymology": "a strait",
        "brand:wikidata": "Q1",
        "operator:type": "public",
        "note": "keep",
    }
    assert dict(index_names(tags)) == {
        "Helsinki": MAIN,
        "Helsingfors": OTHER,
        "Stadi": OTHER,
        "Hesa": OTHER,
        "Гельсингфорс": OTHER,
        "City": OTHER,
        "+358 9 1234": ATTRIBUTE,
        "091": ATTRIBUTE,
    }


def test_addresses_are_written_as_the_street_is_spoken() -> None:
    assert address_line("12", "Rue Grimaldi") == "12 Rue Grimaldi"
    assert address_line("5", "High Street") == "5 High Street"
    assert address_line("12 B", "Mannerheimintie") == "Mannerheimintie 12 B"


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("12 Rue Grimaldi", ("12", "Rue Grimaldi", "")),
        ("12, Rue Grimaldi, Monaco", ("12", "Rue Grimaldi", "Monaco")),
        ("12 bis rue Grimaldi, 98000 Monaco", ("12 bis", "rue Grimaldi", "98000 Monaco")),
        ("Mannerheimintie 12 B", ("12 B", "Mannerheimintie", "")),
        ("10-12 High Street", ("10-12", "High Street", "")),
    ],
)
def test_reading_an_address(text: str, reading: tuple[str, str, str]) -> None:
    assert split_address(text)[0] == reading


@pytest.mark.parametrize(
    "text",
    ["A Street and B Street", "A Street & B Street", "A Street/B Street", "corner of A Street and B Street, Town"],
)
def test_reading_a_crossing(text: str) -> None:
    assert split_crossing(text) == ("A Street", "B Street")
