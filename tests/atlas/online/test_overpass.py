"""Overpass: queries that can't be bent, and features put together as they stand."""

import asyncio
import re
from collections.abc import Callable, Coroutine
from operator import methodcaller
from typing import Any
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.atlas.online import OnlineSettings, make_online
from geosleuth.atlas.online import overpass as ql
from geosleuth.atlas.online.overpass import colocations
from geosleuth.atlas.protocol import Place
from geosleuth.geo import Box, Disc, LatLon, destination, distance_km
from geosleuth.support.errors import BadInput, ServiceFault

Settings = Callable[..., OnlineSettings]
HERE = LatLon(43.7384, 7.4246)
MONACO = Box(43.72, 7.40, 43.76, 7.45)


def ask(settings: OnlineSettings, call: Callable[[Any], Coroutine[Any, Any, Any]]) -> Any:
    async def go() -> Any:
        async with make_online("overpass", settings) as atlas:
            return await call(atlas)

    return asyncio.run(go())


def query_of(service: Any) -> str:
    return str(parse_qs(service.last.body.decode())["data"][0])


def node(number: int, at: LatLon, **tags: str) -> dict[str, Any]:
    return {"type": "node", "id": number, "lat": at.lat, "lon": at.lon, "tags": tags}


def away(metres: float, bearing: float = 90) -> LatLon:
    return destination(HERE, bearing, metres / 1000)


def count(total: int) -> dict[str, Any]:
    return {"type": "count", "id": 0, "tags": {"nodes": str(total), "total": str(total)}}


def test_features_by_name_best_first(service: Any, settings: Settings) -> None:
    casino = {"type": "way", "id": 5, "tags": {"name": "Casino", "shop": "supermarket", "addr:street": "Rue Grimaldi"}}
    casino["bounds"] = {"minlat": 43.73, "minlon": 7.42, "maxlat": 43.732, "maxlon": 7.422}
    other = node(6, away(50), name="Grand Casino", amenity="casino")
    service.reply("/interpreter", {"elements": [other, casino, {"type": "node", "id": 7}]})
    first, second = ask(settings(), lambda atlas: atlas.search_pois("Casino", within=MONACO))
    assert (first.place.id, first.match, first.place.kind) == ("osm:w5", "exact", "shop=supermarket")
    assert first.place.extent == Box(43.73, 7.42, 43.732, 7.422)
    assert first.place.address == "Rue Grimaldi"
    assert (second.place.id, second.match) == ("osm:n6", "fuzzy")
    query = query_of(service)
    assert query.startswith("[out:json][timeout:25];")
    assert '~"Casino",i](43.7200000,7.4000000,43.7600000,7.4500000)' in query
    assert service.last.method == "POST"


def test_a_category_narrows_or_stands_alone(service: Any, settings: Settings) -> None:
    service.reply(
        "/interpreter", {"elements": [node(1, away(300), amenity="cafe"), node(2, away(100), amenity="cafe")]}
    )
    hits = ask(settings(), lambda atlas: atlas.search_pois("", near=HERE, category="amenity=cafe"))
    assert [hit.place.id for hit in hits] == ["osm:n2", "osm:n1"]
    assert '["amenity"="cafe"](around:5000.0,' in query_of(service)
    with pytest.raises(BadInput, match="give a point"):
        ask(settings(), lambda atlas: atlas.search_pois("Casino"))
    assert ask(settings(), lambda atlas: atlas.search_pois("?!")) == []


def test_neighbours_nearest_first(service: Any, settings: Settings) -> None:
    places = [node(n, away(metres), name=f"n{n}") for n, metres in enumerate((90, 10, 50), start=1)]
    service.reply("/interpreter", {"elements": places})
    hits = ask(settings(), lambda atlas: atlas.nearby(HERE, 100, limit=2))
    assert [hit.place.id for hit in hits] == ["osm:n2", "osm:n3"]
    assert hits[0].distance_km == pytest.approx(0.010, rel=1e-3)
    for radius in (0.0, -1.0, float("nan"), 1e9):
        with pytest.raises(BadInput):
            ask(settings(), methodcaller("nearby", HERE, radius))


def test_two_carriageways_make_one_crossing(service: Any, settings: Settings) -> None:
    corners = [
        {"type": "node", "id": n, "lat": at.lat, "lon": at.lon} for n, at in enumerate((HERE, away(20), away(900)), 1)
    ]
    service.reply("/interpreter", {"elements": corners})
    hits = ask(settings(), lambda atlas: atlas.crossing("Rue Grimaldi", "Rue Suffren-Reymond", within=MONACO))
    assert [hit.place.id for hit in hits] == ["osm:n1", "osm:n3"]
    assert hits[0].place.kind == "crossing"
    query = query_of(service)
    assert '~"^Rue.{0,3}Grimaldi$",i]' in query
    assert "node(w.first)(w.second)" in query
    with pytest.raises(BadInput, match="within"):
        ask(settings(), lambda atlas: atlas.crossing("a", "b"))


def test_what_stands_together(service: Any, settings: Settings) -> None:
    pharmacy, bank, cafe = (
        node(n, at, amenity=kind)
        for n, at, kind in ((1, HERE, "pharmacy"), (2, away(40), "bank"), (3, away(80), "cafe"))
    )
    far_bank = node(4, away(500), amenity="bank")
    elements = [count(1), pharmacy, count(2), bank, far_bank, count(1), cafe]
    service.reply("/interpreter", {"elements": elements})
    features = ["amenity=pharmacy", 'Crédit "Foncier"](1);out;', "cafe"]
    (found,) = ask(settings(), lambda atlas: atlas.colocated(features, 100, within=MONACO))
    assert [place.id for place in found.places] == ["osm:n1", "osm:n2", "osm:n3"]
    assert found.spread_m == pytest.approx(80, rel=1e-3)
    query = query_of(service)
    assert "nwr.all0(around.all1:100.0)(around.all2:100.0)->.near0;" in query
    assert '~"Crédit.{0,3}Foncier.{0,3}1.{0,3}out",i]' in query
    turned = {"bearings_deg": (90.0, None)}
    assert len(ask(settings(), lambda atlas: atlas.colocated(features, 100, within=MONACO, **turned))) == 1
    turned = {"bearings_deg": (270.0, None)}
    assert ask(settings(), lambda atlas: atlas.colocated(features, 100, within=MONACO, **turned)) == []
    for bad in (["one"], ["a"] * 6):
        with pytest.raises(BadInput, match="two to five"):
            ask(settings(), methodcaller("colocated", bad, 100, within=MONACO))
    service.reply("/interpreter", {"elements": elements[:4]})
    with pytest.raises(ServiceFault, match="unexpected shape"):
        ask(settings(cache_hours={"overpass": 0.0}), lambda atlas: atlas.colocated(features, 100, within=MONACO))


def test_a_remark_that_tells_of_an_error_is_a_fault_and_not_kept(service: Any, settings: Settings) -> None:
    remark = 'runtime error: Query timed out in "query" at line 2 after 26 seconds.'
    service.reply("/interpreter", {"elements": [], "remark": remark})
    with pytest.raises(ServiceFault, match="Query timed out") as caught:
        ask(settings(tries=2), lambda atlas: atlas.nearby(HERE, 100))
    assert caught.value.retryable
    assert len(service.asked) == 2
    service.reply("/interpreter", {"elements": [node(1, HERE, name="x")]})
    assert len(ask(settings(), lambda atlas: atlas.nearby(HERE, 100))) == 1


def test_an_area_across_the_antimeridian_is_asked_in_two(service: Any, settings: Settings) -> None:
    service.reply("/interpreter", {"elements": []})
    assert ask(settings(), lambda atlas: atlas.search_pois("Taveuni", within=Disc(LatLon(-16.8, 179.99), 10))) == []
    west, east = re.findall(r"\((-?[\d.]+),(-?[\d.]+),(-?[\d.]+),(-?[\d.]+)\)", query_of(service))
    assert (float(west[3]), float(east[1])) == (180, -180)


@given(st.text(max_size=60))
def test_no_text_breaks_out_of_a_query(text: str) -> None:
    pattern = ql.name_pattern(text)
    assert re.fullmatch(r"(?:[^\W_]|\.\{0,3\})*", pattern)
    try:
        filters = ql.by_category(text)
    except BadInput:
        return
    for one in filters:
        assert one.count('"') in (2, 4)
        assert ";" not in one


def test_putting_together_equals_trying_everything() -> None:
    import itertools
    import random

    chance = random.Random(3)
    sets = []
    for sort in range(3):
        spots = [LatLon(43.73 + chance.random() / 200, 7.42 + chance.random() / 200) for _ in range(15)]
        sets.append([Place(f"{sort}-{n}", "x", "k", at, Disc(at, 0), "test") for n, at in enumerate(spots)])
    expected = sorted(
        max(distance_km(a.point, b.point) * 1000 for a, b in itertools.combinations(chosen, 2))
        for chosen in itertools.product(*sets)
    )
    expected = [spread for spread in expected if spread <= 120]
    found = colocations(sets, 120, limit=10_000)
    assert len(found) == len(expected) > 5
    assert [one.spread_m for one in found] == pytest.approx(expected)
    in_order = colocations(sets, 120, in_order=True, limit=10_000)
    assert 0 < len(in_order) < len(found)
