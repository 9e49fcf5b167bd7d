"""What the atlas's answers say: names that mean one place, names that mean hundreds, and misread ones."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from drawn import examples
from geosleuth.atlas import OfflineAtlas
from geosleuth.evidence.atlas_hits import classify_kind
from geosleuth.evidence.bearing import begins, likeness
from geosleuth.evidence.clue import Clue, CluePlace, TextSeen
from geosleuth.evidence.country_prior import country_prior
from geosleuth.evidence.decision import decide
from geosleuth.evidence.place_clues import (
    MAX_SPOTS,
    PLACE_SEARCHES,
    SearchKind,
    of_somebody,
    place_clues,
    restrict_to_country,
)
from geosleuth.evidence.posterior import distinct, posterior
from geosleuth.geo import LatLon, distance_km
from geosleuth.models.detective.searches import SEARCH_OF_TOOL
from geosleuth.tools import Case, Tool
from geosleuth.tools.maps import find_colocated, find_crossing, maps_geocode, poi_input_tips, poi_keyword_search
from geosleuth.tools.ranges import range_fix
from homes import add_region
from tool_cases import MONACO, call, case_of

STARS_N_BARS = LatLon(43.7333, 7.4195)


def city(name: str, lat: float, lon: float, country: str, radius_km: float, **how: Any) -> dict[str, Any]:
    return {
        "id": f"geonames:{name}{lat}", "name": name, "kind": "city", "lat": lat, "lon": lon,
        "extent": {"lat": lat, "lon": lon, "radius_km": radius_km}, "country": country, "region": None,
        "address": f"{name}, {country}", "source": "GeoNames", "score": 0.8, "match": "exact", "matched": name,
        "distance_km": None, **how,
    }  # fmt: skip


def feature(name: str, kind: str = "amenity=cafe", **how: Any) -> dict[str, Any]:
    lat, lon = how.pop("at", (43.735, 7.421))
    box = {"south": lat, "west": lon, "north": lat, "east": lon}
    return {
        "id": f"osm:monaco:{name}{lat}{lon}", "name": name, "kind": kind, "lat": lat, "lon": lon, "extent": box,
        "country": None, "region": None, "address": None, "source": "OpenStreetMap, region monaco", "score": 0.98,
        "match": "exact", "matched": name, "distance_km": None, **how,
    }  # fmt: skip


def looked_up(query: str, *rows: dict[str, Any], search: SearchKind = "address") -> Clue:
    (clue,) = place_clues(search, {"results": list(rows)}, asked=query)
    return clue


def weight(clue: Clue) -> float:
    return sum(spot.weight for spot in clue.spots)


def spot_of(clue: Clue, country: str) -> CluePlace:
    return next(spot for spot in clue.spots if spot.country == country)


def test_the_larger_of_two_towns_weighs_more() -> None:
    clue = looked_up("Paris", city("Paris", 48.85, 2.35, "FR", 15), city("Paris", 33.66, -95.56, "US", 1.6))
    assert clue.kind == "place"
    assert spot_of(clue, "FR").weight > 10 * spot_of(clue, "US").weight
    assert weight(clue) <= 1


def test_a_name_with_many_bearers_says_little_of_each() -> None:
    many = [city("Kirchdorf", 45 + n / 2, 10 + n / 2, "AT", 1.0) for n in range(10)]
    alone, among = looked_up("Kirchdorf", many[0]), looked_up("Kirchdorf", *many, search="name")
    assert max(spot.weight for spot in among.spots) < 0.2 * weight(alone)
    assert "one of 10 places" in among.says


def test_an_exact_name_weighs_more_than_another_name_and_that_more_than_a_misspelling() -> None:
    exact = looked_up("Hirvikallio", feature("Hirvikallio"))
    alias = looked_up("Hirvikallio", feature("Hirvikallio", match="alias"))
    fuzzy = looked_up("Hirvikalio", feature("Hirvikallio", match="fuzzy"))
    assert weight(exact) > weight(alias) > weight(fuzzy) > 0


def test_a_name_that_is_another_place_s_too_is_hardly_misread() -> None:
    shop, village = feature("Hirvikallio", match="fuzzy"), city("Hirvikalio", 61.0, 25.0, "FI", 1.5)
    alone, beside = looked_up("Hirvikalio", shop), looked_up("Hirvikalio", shop, village)
    assert alone.spots[0].weight > 2 * sum(spot.weight for spot in beside.spots if spot.name == "Hirvikallio")


def test_a_name_that_was_asked_for_in_one_country_tells_its_towns_apart_and_not_the_country() -> None:
    clue = looked_up("Caldeirão", city("Caldeirão", -9.2, -36.0, "BR", 4.0))
    found = posterior([restrict_to_country(clue, "BR")])
    assert found.countries["BR"] < 2.5 * country_prior()["BR"] < posterior([clue]).countries["BR"]
    assert found.candidates[0].probability > 0.5 * found.elsewhere["BR"]


def test_a_code_of_three_letters_is_no_town() -> None:
    diego = city("San Diego", 32.7, -117.2, "US", 12.2, match="alias", matched="San")
    assert weight(looked_up("San", diego)) < 0.05


def test_a_common_word_is_worth_next_to_nothing_even_where_it_fits() -> None:
    assert weight(looked_up("Hotel", feature("Hotel", "tourism=hotel"))) < 0.05
    assert weight(looked_up("Boulangerie Lorenzini", feature("Boulangerie Lorenzini", "shop=bakery"))) > 0.8


def test_a_first_name_beside_other_words_is_a_persons() -> None:
    data = {"results": [city("Elizabeth", 40.664, -74.211, "US", 8.0)]}

    def reliability(line: str) -> float:
        seen = TextSeen(line, "image-1", (0.1, 0.1, 0.5, 0.2), 0.95, "latin")
        (clue,) = place_clues("address", data, seen, asked="ELIZABETH")
        return clue.reliability

    assert reliability("ELIZABETH, HIS WIFE,") < reliability("ELIZABETH") / 5


def test_shops_called_after_a_famous_city_say_less_than_those_after_a_town() -> None:
    famous = of_somebody(looked_up("New York", city("New York", 40.71, -74.01, "US", 25.0)))
    large = of_somebody(looked_up("Trieste", city("Trieste", 45.65, 13.78, "IT", 8.0)))
    assert famous.reliability < large.reliability / 3


def test_a_chain_is_weaker_than_a_shop_of_its_own() -> None:
    assert weight(looked_up("Carrefour", feature("Carrefour", "shop=supermarket"))) < 0.15
    assert weight(looked_up("Varrefoux", feature("Varrefoux", "shop=supermarket"))) > 0.8


def test_likeness_asks_more_of_short_names() -> None:
    assert likeness("Costa", "Costa") == likeness("C o s t a", "Costa") == 1
    assert likeness("Boulangcrie Lorenzini", "Boulangerie Lorenzini") > 0.4
    assert likeness("Cosla", "Costa") < 0.1
    assert likeness("Helsinki", "Stockholm") == 0
    assert likeness("Hotel Hermitage", "Hermitage") > 0.7
    assert begins("Boulevard Albert", "Boulevard Albert Premier") < 1
    assert begins("Boule", "Boulevard Albert Premier") < 0.1
    assert likeness("", "x") == 0


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("city", ("town", "place")),
        ("country", ("country", "place")),
        ("airport", ("feature", "airport")),
        ("peak", ("feature", "landmark")),
        ("highway=residential", ("street", "street")),
        ("highway=bus_stop", ("feature", "station")),
        ("railway=station", ("feature", "station")),
        ("amenity=cafe", ("feature", "business")),
        ("tourism=hotel", ("feature", "business")),
        ("tourism=museum", ("feature", "landmark")),
        ("place=village", ("town", "place")),
        ("place=country", ("country", "place")),
        ("crossing", ("feature", "street")),
    ],
)
def test_kinds_of_the_atlas_are_kinds_of_clues(kind: str, expected: tuple[str, str]) -> None:
    assert classify_kind(kind) == expected


def test_radii_follow_what_a_place_is() -> None:
    long_street = feature("Lorenzinitie", "highway=primary")
    long_street["extent"] = {"south": 43.72, "west": 7.40, "north": 43.75, "east": 7.44}
    shop = looked_up("Lorenzini", feature("Lorenzini")).spots[0].radius_km
    street = looked_up("Lorenzinitie", long_street).spots[0].radius_km
    town = looked_up("Helsinki", city("Helsinki", 60.17, 24.94, "FI", 8.4)).spots[0].radius_km
    assert shop == pytest.approx(0.1)
    assert street == pytest.approx(2.3, abs=0.2)
    assert 8 < town < 20


def test_the_name_of_a_country_speaks_of_countries_and_of_no_spot() -> None:
    row = {**city("France", 48.85, 2.35, "FR", 84), "id": "country:FR", "kind": "country"}
    clue = looked_up("France", row)
    assert clue.spots == ()
    assert clue.countries["FR"] > 0.8
    assert sum(clue.countries.values()) == pytest.approx(1)
    assert clue.reliability < 0.5, "names of countries stand on goods everywhere"


def test_one_place_in_several_sources_is_one_bearer() -> None:
    station = {**city("Andorra la Vella", 42.506, 1.527, "AD", 1.0), "kind": "station", "id": "station:uic8739966"}
    clue = looked_up("Andorra la Vella", city("Andorra la Vella", 42.508, 1.521, "AD", 1.5), station)
    assert len(clue.spots) == 1


def test_text_that_was_hardly_legible_is_less_reliable() -> None:
    data = {"results": [feature("Lorenzini")]}
    clear, faint = (TextSeen("Lorenzini", "image-1", (1, 2, 30, 40), sure, "Latin") for sure in (0.98, 0.3))
    (sharp,) = place_clues("address", data, clear)
    (blurred,) = place_clues("address", data, faint)
    assert sharp.reliability > blurred.reliability
    assert sharp.where == clear
    assert sharp.seen == "Lorenzini"


def test_nothing_found_and_another_search() -> None:
    for search in PLACE_SEARCHES:
        assert place_clues(search, {"results": []}, asked=["a name", "b name"]) == []
        assert place_clues(search, None, asked="a name") == []
        assert place_clues(search, {"results": [feature("Lorenzini")]}) == [], "nobody says what was asked"
    with pytest.raises(ValueError, match="web finds no places"):
        place_clues("web", {})  # type: ignore[arg-type]


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8) | st.integers(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KEYS = st.sampled_from(
    ["name", "kind", "lat", "lon", "extent", "country", "match", "matched", "score", "id", "places", "spread_m",
     "share", "radius_km", "address", "place"]
)  # fmt: skip
ROWS = st.lists(st.dictionaries(KEYS, JSON) | JSON, max_size=5)


@settings(max_examples=examples(150))
@given(
    st.sampled_from(sorted(PLACE_SEARCHES)),
    st.dictionaries(st.sampled_from(["results", "fixes", "conflict"]), ROWS | JSON),
)
def test_whatever_is_answered_clues_are_sound(search: SearchKind, data: dict[str, Any]) -> None:
    for clue in place_clues(search, data, asked=["Lorenzini", "Rue"]):
        assert 0 <= clue.reliability <= 1
        assert len(clue.spots) <= MAX_SPOTS
        assert 0 <= weight(clue) <= 1 + 1e-9
        assert sum(one.probability for one in posterior([clue]).candidates) <= 1


# With the tools themselves, on the bundled region.


@pytest.fixture(scope="module")
def regions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("regions")
    add_region(MONACO, folder)
    return folder


@pytest.fixture
def case(atlas_home: Path, regions: Path) -> Case:
    assert atlas_home.is_dir()
    return case_of(Image.new("RGB", (40, 30), "grey"), atlas=OfflineAtlas(regions))


def asked(tool: Tool, case: Case, words: list[str], **arguments: Any) -> Clue:
    seen = call(tool, case, arguments)
    assert seen.failure is None, seen.text
    lines = [TextSeen(word, "image-1", (0, 0, 9, 9), 0.95, "Latin") for word in words]
    (clue,) = place_clues(SEARCH_OF_TOOL[tool.name], json.loads(json.dumps(seen.data)), lines)
    assert clue.sources or tool.name == "range_fix"
    return clue


def test_a_shop_front_of_an_added_region_gives_the_spot(case: Case) -> None:
    shop = asked(poi_keyword_search, case, ["Stars'N'Bars"], keyword="Stars'N'Bars")
    language = Clue("language", "Ouvert", "French", 0.8, {"FR": 0.6, "CA": 0.1, "BE": 0.1, "MC": 0.2})
    decision = decide(posterior([shop, language]))
    assert decision.level == "spot"
    assert decision.country == "MC"
    assert decision.point is not None
    assert distance_km(decision.point, STARS_N_BARS) < 0.6


def test_a_word_of_a_bill_is_no_restaurant_of_the_only_map_that_is_there(case: Case) -> None:
    clues = [asked(poi_keyword_search, case, [words], keyword=words) for words in ("Tavolo 30", "Tavolo 30 1 =CONTO")]
    assert {clue.spots[0].name for clue in clues} == {"Tavolo"}
    assert len(distinct(clues)) == 1
    assert decide(posterior(clues)).country != "MC"


def test_a_longer_text_that_leads_to_the_same_place_adds_nothing() -> None:
    shop = feature("Stars'N'Bars")
    short, long = (looked_up(words, shop, search="name") for words in ("Stars'N'Bars", "Stars'N'Bars ouvert"))
    other = looked_up("Quai Antoine", feature("Quai Antoine", "highway=residential"), search="name")
    assert distinct([long, other, short]) == (other, short)
    assert posterior([short, long, other]).countries == posterior([short, other]).countries


def test_a_street_and_a_shop_that_meet_give_the_spot_against_a_famous_city(case: Case) -> None:
    clues = [
        asked(maps_geocode, case, ["Quai Antoine 1er"], address="Quai Antoine 1er"),
        asked(poi_keyword_search, case, ["Stars'N'Bars"], keyword="Stars'N'Bars"),
        asked(maps_geocode, case, ["Helsinki"], address="Helsinki"),
    ]
    decision = decide(posterior(clues))
    assert decision.country == "MC"
    assert decision.point is not None
    assert distance_km(decision.point, STARS_N_BARS) < 0.6


def test_features_that_stand_together_are_one_strong_clue(case: Case) -> None:
    words = ["Carrefour", "Rue Grimaldi"]
    clue = asked(find_colocated, case, words, features=words, within_m=300)
    assert clue.seen == "Carrefour + Rue Grimaldi"
    assert spot_of(clue, "MC").weight > 0.5
    assert distance_km(clue.spots[0].point, LatLon(43.7317, 7.4179)) < 0.5
    alone = asked(poi_keyword_search, case, ["Carrefour"], keyword="Carrefour")
    assert weight(clue) > weight(alone)


def test_a_name_and_a_mere_category_are_hardly_more_than_the_name(case: Case) -> None:
    words = ["Rue Grimaldi", "pharmacy"]
    clue = asked(find_colocated, case, words, features=words, within_m=300)
    names = ["Rue Grimaldi", "Carrefour"]
    assert weight(clue) < weight(asked(find_colocated, case, names, features=names, within_m=300))


def test_two_streets_meet_at_one_spot(case: Case) -> None:
    words = ["Rue Grimaldi", "Rue Suffren Reymond"]
    clue = asked(find_crossing, case, words, first=words[0], second=words[1])
    assert clue.kind == "street"
    decision = decide(posterior([clue]))
    assert decision.level == "spot"
    assert decision.country == "MC"


def test_a_name_that_breaks_off_is_a_weak_lead(case: Case) -> None:
    begun = asked(poi_input_tips, case, ["Boulevard des Moul"], text="Boulevard des Moul")
    whole = asked(maps_geocode, case, ["Boulevard des Moulins"], address="Boulevard des Moulins")
    assert 0 < weight(begun) < weight(whole)


def test_a_signpost_with_distances_gives_the_ground_where_they_meet(case: Case) -> None:
    words = ["Seoul 56 km", "Pyongyang 205 km"]
    clue = asked(range_fix, case, words, towns=["Seoul", "Pyongyang"], distances=[56, 205])
    assert clue.kind == "distance_sign"
    assert {spot.country for spot in clue.spots} <= {"KR", "KP"}
    decision = decide(posterior([clue]))
    assert decision.point is not None
    assert distance_km(decision.point, LatLon(37.9, 126.9)) < 120


def test_a_town_sign_gives_the_town_only_as_far_as_such_signs_are_reliable(case: Case) -> None:
    clue = asked(maps_geocode, case, ["Tampere"], address="Tampere")
    decision = decide(posterior([clue]))
    assert (decision.level, decision.country) == ("city", "FI")
    assert decision.probability_raw <= clue.reliability
