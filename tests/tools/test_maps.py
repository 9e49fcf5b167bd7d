"""The map tools, asked as a model asks them, on the offline atlas with the bundled region."""

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from geosleuth.atlas import OfflineAtlas
from geosleuth.geo import LatLon, distance_km
from geosleuth.tools import Case, Tool
from geosleuth.tools.maps import (
    find_colocated,
    find_crossing,
    maps_geocode,
    nearby,
    poi_detail_query,
    poi_input_tips,
    poi_keyword_search,
    reverse_geocode,
    satellite_map_query,
    static_map_query,
)
from homes import add_region
from tool_cases import MONACO, call, case_of

SQUARE = {"latitude": 43.7384, "longitude": 7.4246}


@pytest.fixture(scope="module")
def regions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("regions")
    add_region(MONACO, folder)
    return folder


@pytest.fixture
def case(atlas_home: Path, regions: Path) -> Case:
    assert atlas_home.is_dir()
    return case_of(Image.new("RGB", (40, 30), "grey"), atlas=OfflineAtlas(regions))


@pytest.fixture
def bare(atlas_home: Path, tmp_path: Path) -> Case:
    """No region was added."""
    assert atlas_home.is_dir()
    return case_of(atlas=OfflineAtlas(tmp_path / "none"))


def test_addresses_are_found_with_coordinates_id_confidence_and_source(case: Case) -> None:
    seen = call(maps_geocode, case, {"query": "Rue Grimaldi, Monaco"}, name="geocode")
    best = seen.data["results"][0]
    assert best["name"] == "Rue Grimaldi"
    assert f"{best['lat']:.5f}, {best['lon']:.5f}" in seen.text
    assert best["id"] in seen.text
    assert "confidence 0.98" in seen.text
    assert "OpenStreetMap, region monaco" in seen.sources
    assert seen.text.endswith(".")


def test_a_country_narrows_and_must_be_one(case: Case) -> None:
    texan = call(maps_geocode, case, {"address": "Paris", "country": "United States"})
    assert texan.data["results"][0]["country"] == "US"
    wrong = call(maps_geocode, case, {"address": "Paris", "country": "Atlantis"})
    assert wrong.failure == "refused"
    assert "no country is called" in wrong.text


def test_places_that_are_not_there_and_coordinates_are_told_apart(bare: Case) -> None:
    unknown = call(maps_geocode, bare, {"address": "Xqzvkkw"})
    assert (unknown.failure, unknown.data["results"]) == (None, [])
    assert "geosleuth atlas get PLACE" in unknown.text
    assert "reverse_geocode" in call(maps_geocode, bare, {"address": "43.7384, 7.4246"}).text


def test_a_point_is_told_by_country_and_settlement(case: Case) -> None:
    seen = call(reverse_geocode, case, {"lat": "48.8584", "lng": 2.2945})
    assert seen.data["country"] == "FR"
    assert seen.text.startswith("48.85840, 2.29450 is Paris")
    assert "at sea" in call(reverse_geocode, case, {"lat": 0, "lon": -150}).text


def test_what_stands_around_a_point_comes_nearest_first(case: Case) -> None:
    seen = call(nearby, case, {**SQUARE, "radius": 100, "category": "post_office"})
    assert [hit["name"] for hit in seen.data["results"]] == ["La Poste"]
    assert "m away" in seen.text
    away = [hit["distance_km"] for hit in call(nearby, case, {**SQUARE, "radius_m": 100}).data["results"]]
    assert away == sorted(away)
    assert away[-1] <= 0.1


def test_nothing_around_says_what_to_try(bare: Case) -> None:
    seen = call(nearby, bare, {**SQUARE, "category": "cafe"})
    assert (seen.failure, seen.data["results"]) == (None, [])
    assert "no detailed map is installed" in seen.text
    assert "geosleuth atlas get monaco" in seen.text


def test_a_map_of_towns_alone_is_drawn_as_far_away_as_it_shows_something(case: Case, bare: Case) -> None:
    far = call(static_map_query, bare, {"centre": "43.7384,7.4246", "zoom": 15})
    assert far.data["zoom"] == 9
    assert "zoom 9" in far.text
    assert "Drawn from zoom 9, not 15" in far.text
    assert "no detailed map is installed" in far.text
    assert call(static_map_query, case, {"centre": "43.7384,7.4246", "zoom": 15}).data["zoom"] == 15


def test_names_are_completed(case: Case) -> None:
    seen = call(poi_input_tips, case, {"keyword": "Boulev", "near": "43.7384,7.4246"})
    assert any(hit["name"] == "Boulevard d'Italie" for hit in seen.data["results"])
    assert "No name begins with" in call(poi_input_tips, case, {"text": "Xqzvkkw"}).text


@pytest.mark.parametrize("near", ["Monaco", "43.7384, 7.4246", "43.7384° N, 7.4246° E", "[43.7384, 7.4246]", ""])
def test_a_misread_sign_finds_its_shop(case: Case, near: str) -> None:
    seen = call(poi_keyword_search, case, {"keyword": "BOULANGERlE C0STA", "near": near})
    assert seen.data["results"][0]["name"] == "Boulangerie Costa"
    assert (seen.data["results"][0]["distance_km"] is None) == (near == "")


def test_a_category_narrows_and_unknown_names_say_so(case: Case) -> None:
    cafes = call(poi_keyword_search, case, {"keyword": "Costa", "category": "cafe"}).data["results"]
    assert cafes
    assert {hit["kind"] for hit in cafes} == {"amenity=cafe"}
    nothing = call(poi_keyword_search, case, {"keyword": "Xqzvkkw", "category": "cafe"})
    assert "Nothing called" in nothing.text
    assert "no category" in nothing.text


def test_details_are_quoted_and_ids_must_exist(case: Case) -> None:
    found = call(poi_keyword_search, case, {"keyword": "Carrefour"}).data["results"][0]["id"]
    seen = call(poi_detail_query, case, {"id": found})
    assert 'phone: "+33 7 92 05 57 00"' in seen.text
    assert seen.data["details"]["shop"] == "supermarket"
    wrong = call(poi_detail_query, case, {"poi_id": "osm:atlantis:n1"})
    assert wrong.failure == "refused"
    assert "ids stand in the results" in wrong.text


@pytest.mark.parametrize("area", ["Monaco", "", "43.72,7.40,43.76,7.45", "43.7384,7.4246,3", "France"])
def test_features_that_stand_together(case: Case, area: str) -> None:
    seen = call(find_colocated, case, {"features": ["Carrefour", "pharmacy"], "within_m": 200, "area": area})
    group = seen.data["results"][0]
    assert group["spread_m"] <= 200
    assert [place["name"] for place in group["places"]] == ["Carrefour", "pharmacy"]
    assert distance_km(LatLon(group["lat"], group["lon"]), LatLon(43.7304, 7.4169)) < 0.1


def test_features_written_as_one_text_are_taken_apart(case: Case) -> None:
    seen = call(find_colocated, case, {"features": "Carrefour; pharmacy", "within_m": 200})
    assert len(seen.data["results"][0]["places"]) == 2


def test_an_area_keeps_others_out(case: Case) -> None:
    seen = call(find_colocated, case, {"features": ["Carrefour", "pharmacy"], "within_m": 200, "area": "Germany"})
    assert (seen.failure, seen.data["results"]) == (None, [])
    assert "Nowhere" in seen.text


def test_two_streets_meet_at_a_corner(case: Case) -> None:
    arguments = {"first": "Rue Grimaldi", "second": "Rue Suffren Reymond"}
    seen = call(find_crossing, case, {**arguments, "area": "Monaco"})
    assert seen.data["results"][0]["kind"] == "crossing"
    assert "43.73428, 7.41854" in seen.text
    assert "No crossing of" in call(find_crossing, case, {**arguments, "area": "Lyon"}).text


def test_a_map_is_a_new_picture_of_the_case(case: Case) -> None:
    seen = call(static_map_query, case, {"center": "Monaco", "zoom": 14}, name="static_map_tool")
    assert [(image.handle, image.photo, image.size) for image in seen.images] == [("image-2", 2, (640, 640))]
    picture = case.album["image-2"].image
    assert len(set(picture.resize((64, 64)).tobytes())) > 20
    assert seen.data["extent"]["south"] < 43.7384 < seen.data["extent"]["north"]
    assert "Credit: © OpenStreetMap contributors" in seen.text


def test_a_picture_from_above_comes_from_the_user_s_tiles(atlas_home: Path, tmp_path: Path) -> None:
    import io
    import sqlite3

    assert atlas_home.is_dir()
    stream = io.BytesIO()
    Image.new("RGB", (256, 256), "#336699").save(stream, "PNG")
    tiles = tmp_path / "world.mbtiles"
    with sqlite3.connect(tiles) as file:
        file.execute("CREATE TABLE metadata (name TEXT, value TEXT)")
        file.execute("CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB)")
        file.executemany("INSERT INTO metadata VALUES (?, ?)", [("format", "png"), ("minzoom", "0"), ("maxzoom", "0")])
        file.execute("INSERT INTO tiles VALUES (0, 0, 0, ?)", (stream.getvalue(),))
    file.close()
    case = case_of(Image.new("RGB", (40, 30)), atlas=OfflineAtlas(tmp_path / "none", tiles=tiles))
    seen = call(satellite_map_query, case, {"centre": "43.7384,7.4246", "zoom": 2})
    assert seen.failure is None, seen.text
    assert case.album["image-2"].image.getpixel((320, 320)) == (0x33, 0x66, 0x99)


def test_without_tiles_it_is_refused_with_the_way_out(case: Case) -> None:
    seen = call(satellite_map_query, case, {"centre": "Monaco"})
    assert seen.failure == "refused"
    assert "--tiles" in seen.text


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        (maps_geocode, {"address": " "}, "address is empty"),
        (reverse_geocode, {"latitude": 139.7, "longitude": 35.6}, "swapped"),
        (reverse_geocode, {"latitude": 91, "longitude": 200}, "between -90 and 90"),
        (nearby, {**SQUARE, "radius_m": 0}, "between 1 and 50000"),
        (nearby, {"latitude": -100, "longitude": 0}, "between -90 and 90"),
        (poi_input_tips, {"text": ""}, "text is empty"),
        (poi_input_tips, {"text": "Bou", "near": "Xqzvkkw"}, "'lat,lon'"),
        (poi_keyword_search, {"keyword": "\u200b\n"}, "keyword is empty"),
        (poi_keyword_search, {"keyword": "Costa", "near": "99,500"}, "between -90 and 90"),
        (poi_detail_query, {"id": ""}, "poi_id is empty"),
        (find_colocated, {"features": ["Carrefour"]}, "two to five"),
        (find_colocated, {"features": ["a", "b", "c", "d", "e", "f"]}, "two to five"),
        (find_colocated, {"features": ["a", "b"], "within_m": -1}, "within_m must lie between"),
        (find_colocated, {"features": ["a", "b"], "area": "50,0,40,10"}, "is no area"),
        (find_colocated, {"features": ["a", "b"], "area": "43,7,-5"}, "is no area"),
        (find_crossing, {"first": "Rue Grimaldi", "second": ""}, "second is empty"),
        (static_map_query, {"centre": ""}, "centre is empty"),
        (static_map_query, {"centre": "Xqzvkkw"}, "knows no place"),
        (static_map_query, {"centre": "Monaco", "zoom": 40}, "between 0 (the world) and 20"),
        (static_map_query, {"centre": "200,10"}, "between -90 and 90"),
    ],
)
def test_what_can_not_be_asked_is_refused_with_the_right_way(
    case: Case, tool: Tool, arguments: dict[str, Any], says: str
) -> None:
    seen = call(tool, case, arguments)
    assert seen.failure == "refused"
    assert says in seen.text
    assert len(seen.text.splitlines()) == 1


def test_the_lines_of_a_sign_are_one_address(case: Case) -> None:
    by_lines = call(maps_geocode, case, {"address": "Rue Grimaldi\n\n98000 Monaco\n"})
    by_commas = call(maps_geocode, case, {"address": "Rue Grimaldi, 98000 Monaco"})
    assert by_lines.data == by_commas.data
    assert by_lines.data["results"][0]["name"] == "Rue Grimaldi"
    assert by_lines.text == by_commas.text


def test_an_address_that_no_map_has_is_told_by_its_town(case: Case) -> None:
    seen = call(maps_geocode, case, {"address": "Sunset Boulevard, Los Angeles"})
    assert 'only the town is known, not "Sunset Boulevard"' in seen.text.splitlines()[1]
    first = seen.data["results"][0]
    assert (first["match"], first["level"], first["missing"]) == ("part", "town", ["Sunset Boulevard"])
    state = call(maps_geocode, case, {"address": "Nosuchwood, Pennsylvania"}).text.splitlines()[1]
    assert "somewhere in it" in state
    assert "is its main town" in state
    assert "No place" in call(maps_geocode, case, {"address": "Lake Nosuchwood"}).text


@pytest.mark.parametrize("tool", [poi_keyword_search, poi_input_tips])
def test_near_keeps_to_the_place(case: Case, tool: Tool) -> None:
    word = {poi_keyword_search: "keyword", poi_input_tips: "text"}[tool]
    assert call(tool, case, {word: "Carrefour", "near": "Monaco"}).data["results"]
    for text in ("Carrefour", "water tower", "Watertown"):
        seen = call(tool, case, {word: text, "near": "Budapest"})
        assert seen.data["results"] == [], seen.text
        assert "none of which reaches there" in seen.text
        assert "geosleuth atlas get hungary" in seen.text
    there = call(tool, case, {word: "Szeged", "near": "Hungary"}).data["results"]
    assert there
    assert {one["country"] for one in there} == {"HU"}


@pytest.mark.parametrize(
    ("point", "radius_m", "says"),
    [
        ({"latitude": 47.5, "longitude": 19.05}, 50_000, "none of which reaches there"),
        ({"latitude": 47.5, "longitude": 19.05}, 200, "none of which reaches there"),
        (SQUARE, 10, "Try a radius_m up to 50000 or no category"),
    ],
)
def test_nothing_nearby_says_what_is_lacking(case: Case, point: dict[str, float], radius_m: int, says: str) -> None:
    seen = call(nearby, case, {**point, "radius_m": radius_m, "category": "windmill"})
    assert seen.data["results"] == []
    assert says in seen.text
    assert ("radius_m up to" in seen.text) == (point is SQUARE)


def test_without_any_map_the_command_that_adds_one_is_told(bare: Case) -> None:
    seen = call(nearby, bare, {**SQUARE, "radius_m": 50_000})
    assert 'no detailed map is installed; "geosleuth atlas get monaco" fetches one' in seen.text
    assert "Try" not in seen.text


def test_the_nearest_settlement_is_told_first_and_a_large_city_after_it(case: Case) -> None:
    # The Great Hungarian Plain, far from everything; the steppe; the Nullarbor.
    for lat, lon in ((46.9, 20.1), (48.3, 67.2), (-31.4, 129.0), (35.36, 138.73)):
        seen = call(reverse_geocode, case, {"latitude": lat, "longitude": lon})
        away = [one["distance_km"] for one in seen.data["places"] if one["kind"] == "city"]
        assert away == sorted(away)
        assert f"{away[0]:.0f} km" in seen.data["address"] or "near" not in seen.data["address"]
