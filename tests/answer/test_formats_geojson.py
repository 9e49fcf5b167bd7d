"""GeoJSON, read by shapely and held against RFC 7946."""

import json
import math
from typing import Any

import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.answer import Address, Answer, Candidate
from geosleuth.answer.formats import AnswerContext, LocatedAnswer, Polygons, circle_polygons, to_geojson
from geosleuth.geo import LatLon, distance_km
from marked import HOME, marked_answer, marked_context

LATS, LONS = st.floats(-90, 90), st.floats(-180, 180)
GEOMETRIES = {"Point": 0, "Polygon": 2, "MultiPolygon": 3}


def read(answer: Answer, context: AnswerContext | None = None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(to_geojson([LocatedAnswer(answer, context or AnswerContext())]))
    check_rfc7946(found)
    return found


def check_rfc7946(found: dict[str, Any]) -> None:
    """What the RFC says must be, of a feature collection of points and polygons."""
    assert found["type"] == "FeatureCollection"
    assert not found.keys() & {"geometry", "properties", "coordinates", "geometries"}
    ids = [feature["id"] for feature in found["features"]]
    assert len(ids) == len(set(ids))
    for feature in found["features"]:
        assert feature["type"] == "Feature"
        assert {"geometry", "properties"} <= feature.keys()
        assert isinstance(feature["properties"], dict)
        if feature["geometry"] is not None:
            check_geometry(feature["geometry"])


def check_geometry(geometry: dict[str, Any]) -> None:
    depth = GEOMETRIES[geometry["type"]]
    rings = [geometry["coordinates"]]
    for _ in range(depth - 1):
        rings = [ring for group in rings for ring in group]
    for group in rings if depth else [[geometry["coordinates"]]]:
        assert all(-180 <= lon <= 180 and -90 <= lat <= 90 for lon, lat in group)
        if depth:
            assert len(group) >= 4
            assert group[0] == group[-1]
    if depth:
        polygons = geometry["coordinates"] if depth == 3 else [geometry["coordinates"]]
        for outer, *holes in polygons:
            assert shapely.LinearRing(outer).is_ccw
            assert not any(shapely.LinearRing(hole).is_ccw for hole in holes)
    shape = shapely.from_geojson(json.dumps(geometry))
    assert shape.is_valid
    assert not shape.is_empty


def test_a_finding_is_a_point_a_circle_and_its_candidates() -> None:
    found = read(marked_answer(), marked_context())
    finding, circle, first, second = found["features"]
    assert finding["geometry"] == {"type": "Point", "coordinates": [7.42463, 43.73841]}
    told = finding["properties"]
    assert (told["role"], told["located"], told["country"], told["radius_km"]) == ("finding", True, "Monaco", 0.2)
    assert (told["photo"]["sha256"], told["model"], told["extent"]) == ("ab" * 32, "detective", "point")
    # "exact" would read as the finding's precision: a cap is told where there is one.
    assert "granularity" not in told
    assert circle["properties"]["role"] == "uncertainty"
    assert shapely.from_geojson(json.dumps(circle["geometry"])).contains(shapely.Point(HOME.lon, HOME.lat))
    assert first["geometry"]["coordinates"] == [7.5013, 43.7712]
    assert (first["properties"]["rank"], first["properties"]["probability"]) == (1, 0.12)
    assert second["geometry"] is None


def test_an_answer_without_a_place_is_an_unlocated_feature() -> None:
    found = read(Answer(address=Address.create("Monaco"), explanation="no clue"))
    (feature,) = found["features"]
    assert feature["geometry"] is None
    assert feature["properties"]["located"] is False
    assert feature["properties"]["explanation"] == "no clue"


def test_many_findings_go_into_one_collection() -> None:
    found = json.loads(
        to_geojson([LocatedAnswer(marked_answer(), AnswerContext()), LocatedAnswer(Answer(), AnswerContext())])
    )
    check_rfc7946(found)
    assert [feature["properties"]["role"] for feature in found["features"]].count("finding") == 2


def test_half_a_surrogate_pair_is_still_json() -> None:
    found = read(Answer(LatLon(1, 2), explanation="cut \ud83d", candidates=(Candidate("\x00"),)))
    assert found["features"][0]["properties"]["explanation"] == "cut \ud83d"


@given(lat=LATS, lon=LONS, radius_km=st.floats(0.001, 20100))
def test_any_circle_is_valid_geojson_around_its_centre(lat: float, lon: float, radius_km: float) -> None:
    centre = LatLon(lat, lon)
    found = read(Answer(centre, radius_km=radius_km))
    circle = shapely.from_geojson(json.dumps(found["features"][1]["geometry"]))
    assert circle.buffer(1e-6).contains(shapely.Point(lon, lat))


@given(
    lat=LATS, lon=LONS, radius_km=st.floats(1, 20000), there_lat=st.floats(-89, 89), there_lon=st.floats(-179.9, 179.9)
)
def test_a_place_is_inside_the_polygons_if_it_is_inside_the_circle(
    lat: float, lon: float, radius_km: float, there_lat: float, there_lon: float
) -> None:
    centre, there = LatLon(lat, lon), LatLon(there_lat, there_lon)
    away_km = distance_km(centre, there)
    # Straight edges between many corners: right up to a share of the radius, and near the poles up to more.
    edge_km = 0.02 * radius_km * (1 + 4 * (abs(lat) * 111 + radius_km > 9000)) + 1
    if abs(away_km - radius_km) < edge_km or abs(there_lat) > 80:
        return
    shapes = [shapely.Polygon(outer, holes) for outer, *holes in circle_polygons(centre, radius_km)]
    inside = any(shape.covers(shapely.Point(there_lon, there_lat)) for shape in shapes)
    assert inside == (away_km < radius_km)


@pytest.mark.parametrize(
    ("centre", "radius_km", "parts"),
    [
        (LatLon(48.8, 2.3), 10, 1),
        (LatLon(-17.0, 179.9), 50, 2),
        (LatLon(89.0, 10.0), 500, 1),
        (LatLon(0.0, 0.0), 30000, 1),
    ],
)
def test_circles_are_cut_at_the_antimeridian_and_closed_over_poles(
    centre: LatLon, radius_km: float, parts: int
) -> None:
    polygons = circle_polygons(centre, radius_km)
    assert len(polygons) == parts
    if radius_km == 10:
        area = shapely.Polygon(polygons[0][0]).area * 111.2**2 * math.cos(math.radians(48.8))
        assert area == pytest.approx(math.pi * 100, rel=0.01)


def test_a_country_is_its_outline_and_no_circle() -> None:
    answer = Answer(LatLon(35.689487, 139.691711), Address.create("Japan"), 0.84, 1131.0)
    outline = [[[(139.0, 35.0), (140.0, 35.0), (140.0, 36.0), (139.0, 36.0), (139.0, 35.0)]]]
    (feature,) = read(answer, AnswerContext(outline=outline, extent="country"))["features"]
    assert feature["geometry"]["type"] == "Polygon"
    told = feature["properties"]
    assert (told["role"], told["country"], told["located"]) == ("finding", "Japan", True)
    assert {"lat", "lon", "radius_km"}.isdisjoint(told)


def test_a_region_is_its_circle_and_a_candidate_that_is_a_country_its_outline() -> None:
    outline = [[[(139.0, 35.0), (140.0, 35.0), (140.0, 36.0), (139.0, 36.0), (139.0, 35.0)]]]
    others = (Candidate("Japan", LatLon(35.7, 139.7)), Candidate("Antarctica", LatLon(-80.0, 0.0)))
    answer = Answer(LatLon(48.9, 11.4), Address.create("Germany", "Bavaria"), 0.6, 190.0, candidates=others)
    areas: tuple[Polygons | None, ...] = (outline, [])
    finding, first, second = read(answer, AnswerContext(extent="country", candidate_areas=areas))["features"]
    assert [one["geometry"] and one["geometry"]["type"] for one in (finding, first, second)] == [
        "Polygon",
        "Polygon",
        None,
    ]
