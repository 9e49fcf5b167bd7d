"""Which extract a name means, and what a catalogue may say."""

import asyncio
import json

import pytest

from extract_server import OFFICIAL, catalogue, entry
from geosleuth.atlas.extracts import Extract, ExtractMatch, find_extract
from geosleuth.atlas.extracts.catalogue import read_catalogue
from geosleuth.support.errors import BadInput, ServiceFault

MIRROR = "https://maps.example.org/osm"
BOX = (0.0, 0.0, 1.0, 1.0)


def meant(text: str, body: bytes | None = None, source: str = OFFICIAL) -> ExtractMatch:
    return asyncio.run(find_extract(read_catalogue(body or catalogue(), source), text))


def found(text: str, body: bytes | None = None, source: str = OFFICIAL) -> Extract:
    return meant(text, body, source).extract


@pytest.mark.parametrize(
    ("text", "extract"),
    [
        ("andorra", "andorra"),
        ("DE-BY", "bayern"),
        ("Tokyo", "kanto"),  # a city: the smallest extract that covers it
        ("switzerland", "switzerland"),
        ("Schweiz", "switzerland"),
        ("日本", "japan"),
        ("東京", "kanto"),
        ("Bavière", "bayern"),  # a region in another language
        ("Kalifornien", "us/california"),
        ("california", "us/california"),
        ("us/georgia", "us/georgia"),
        ("Georgia", "georgia"),
        ("Москва", "central-fed-district"),
        ("القاهرة", "egypt"),
        ("Kanton Zürich", "switzerland"),  # a region without an extract of its own
        ("Paris, Texas", "us/texas"),
        ("Singapore", "malaysia-singapore-brunei"),
        ("Kuala Lumpur", "malaysia-singapore-brunei"),
        ("GB", "united-kingdom"),  # of two with that code alone the larger
        ("San Marino", "centro"),  # a country without an extract of its own
        ("CH-ZH", "switzerland"),
        ("42.5, 1.5", "andorra"),
        ("35.7,139.7", "kanto"),
        ("42°30'N 1°30'E", "andorra"),
    ],
)
def test_names_in_many_languages_mean_the_smallest_extract(text: str, extract: str) -> None:
    assert found(text).id == extract


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Barcelnoa", "did you mean Barcelona, Catalonia, Spain"),
        ("Qqqqzzz", "no country, region or city is called 'Qqqqzzz'"),
        ("   ", "name a country, a region or a city"),
        ("Eiffel Tower", "no country, region or city is called 'Eiffel Tower'"),
        ("0,-150", "download.geofabrik.de has no extract that covers 0,-150$"),
        ("95,200", "there is no point 95, 200"),
        ("1,2,3,4", "no country, region or city is called '1,2,3,4'; try"),
        ("Rue Grimaldi 12, Monaco", "did you mean Monaco"),
        ("98000", "no country, region or city is called '98000'; try its English name or its code"),
        ("a\x1b[31mred\nb", r"no country, region or city is called 'a.*b'; try its English name"),
        ("Canberra", "download.geofabrik.de has no extract that covers Canberra"),
    ],
)
def test_names_that_mean_nothing_there_are_refused(text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        found(text)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Tokyo", "Tokyo, Japan"),
        ("Kanton Zürich", "Zurich, Switzerland"),
        ("San Marino", "San Marino"),
        ("Singapore", "Singapore"),  # of three countries of one extract
        ("42.5,1.5", "42.5,1.5"),
        ("Bavière", ""),  # has an extract of its own
        ("Schweiz", ""),
        ("us/georgia", ""),
        ("asia", ""),
    ],
)
def test_a_place_in_a_larger_extract_is_told(text: str, place: str) -> None:
    assert meant(text).place == place


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Cafe", "covers Cafe, Central Luzon, Philippines is Asia .asia., which spans many countries; .* get asia$"),
        ("Central Luzon", "geosleuth atlas get asia$"),
        ("-33.9,18.4", "geosleuth atlas get africa$"),
    ],
)
def test_a_continent_must_be_named_itself(text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        meant(text)


def test_an_extract_without_codes_is_found() -> None:
    # As Geofabrik lists Kosovo: a part of a continent, without a code.
    kosovo = entry("kosovo", {"name": "Kosovo", "parent": "europe"}, (20.6, 42.3, 21.3, 42.8))
    assert found("Pristina", catalogue(kosovo)).id == "kosovo"


def test_a_region_means_an_extract_that_holds_all_of_it() -> None:
    # Its own point lies in a piece that holds a tenth of it.
    piece = entry("allgaeu", {"name": "Allgäu"}, (11.3, 48.7, 11.7, 49.1))
    whole = json.loads(catalogue(piece))
    whole["features"] = [one for one in whole["features"] if one["properties"]["id"] != "bayern"]
    assert found("Bavaria", json.dumps(whole).encode()).id == "germany"


def test_of_an_address_only_the_path_is_used_at_the_source_that_was_asked() -> None:
    assert found("andorra").url == f"{OFFICIAL}/andorra-latest.osm.pbf"
    assert found("andorra", source=MIRROR).url == f"{MIRROR}/andorra-latest.osm.pbf"
    own = catalogue(entry("mine", {}, BOX, f"{MIRROR}/deep/mine-latest.osm.pbf"))
    assert found("mine", own, MIRROR).url == f"{MIRROR}/deep/mine-latest.osm.pbf"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://evil.example/x-latest.osm.pbf", "leads to evil.example, which was not asked for"),
        ("https://download.geofabrik.de@evil.example/x.osm.pbf", "leads to evil.example"),
        ("https://download.geofabrik.de.evil.example/x.osm.pbf", "leads to download.geofabrik.de.evil.example"),
        ("http://download.geofabrik.de/x-latest.osm.pbf", "without https"),
        ("https://download.geofabrik.de:8443/x.osm.pbf", "of another port"),
        ("file:///etc/passwd.osm.pbf", "has an address without a host"),
        ("https://download.geofabrik.de/../../etc/x.osm.pbf", "no extract"),
        ("https://download.geofabrik.de/a/.hidden.osm.pbf", "no extract"),
        ("https://download.geofabrik.de/x.osm.pbf?to=https://evil.example", "no extract"),
        ("https://download.geofabrik.de/x\r\nHost: evil.example\r\n.osm.pbf", "no extract"),
        ("https://download.geofabrik.de/%2e%2e/x.osm.pbf", "no extract"),
        ("https://download.geofabrik.de/x.sh", "no extract"),
        ("https://[::1/x.osm.pbf", "has an address without a host"),
        (7, "names no file"),
    ],
)
def test_hostile_addresses_are_refused_in_one_line(url: object, said: str) -> None:
    bad = entry("switzerland", {"iso3166-1:alpha2": ["CH"]}, BOX)
    bad["properties"]["urls"]["pbf"] = url
    body = json.dumps({"features": [bad]}).encode()
    with pytest.raises(ServiceFault, match=said) as refused:
        found("Schweiz", body)
    assert str(refused.value).isprintable()


def test_names_that_steer_a_terminal_do_not() -> None:
    bad = entry("x", {"name": "\x1b[2JNew\u202e York\n" + "y" * 500}, BOX)
    (shown,) = [one.name for one in read_catalogue(catalogue(bad), OFFICIAL).extracts if one.id == "x"]
    assert shown.isprintable()
    assert len(shown) <= 80


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"[]",
        b'{"features": 3}',
        b'{"features": []}',
        b'{"features": [null, 7, {"properties": 3}]}',
        b"[" * 100_000,
        b'{"features": [' + b'{"a":' * 60 + b"1" + b"}" * 60 + b"]}",
    ],
)
def test_what_is_no_catalogue_is_refused(body: bytes) -> None:
    with pytest.raises(ServiceFault):
        read_catalogue(body, OFFICIAL)


@pytest.mark.parametrize(
    "geometry",
    [
        None,
        7,
        {"type": "Polygon"},
        {"type": "Polygon", "coordinates": [[[0, 0], [1, 1]]]},
        {"type": "Polygon", "coordinates": [[[0, 0], ["x", 1], [1, 1], [0, 0]]]},
        {"type": "Polygon", "coordinates": [[[-180, -90], [180, 90], [180, -90], [-180, 90], [-180, -90]]]},
        {"type": "MultiPolygon", "coordinates": [[[[1e308, 1e308], [-1e308, 1], [1, -1e308], [1e308, 1e308]]]]},
        {"type": "Point", "coordinates": [139.7, 35.7]},
        {"type": "GeometryCollection", "geometries": []},
    ],
)
def test_shapes_that_are_none_disturb_no_search(geometry: object) -> None:
    bad = entry("odd", {}, BOX)
    bad["geometry"] = geometry
    assert found("Tokyo", catalogue(bad)).id == "kanto"
    assert found("Kanton Zürich", catalogue(bad)).id == "switzerland"
