"""Each service as it documents its answers: what is asked of it, and what becomes of what it says."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from operator import methodcaller
from typing import Any

import pytest

from geosleuth.atlas.online import ONLINE_NAMES, OnlineSettings, make_online
from geosleuth.atlas.online.base import SERVICES_BY_METHOD
from geosleuth.atlas.protocol import Atlas, Hit, NotOffered
from geosleuth.geo import Box, Disc, LatLon, distance_km
from geosleuth.support.errors import BadInput, ServiceFault

Settings = Callable[..., OnlineSettings]
LONDON = {
    "place_id": 100149,
    "osm_type": "node",
    "osm_id": 107775,
    "lat": "51.5073219",
    "lon": "-0.1276474",
    "category": "place",
    "type": "city",
    "addresstype": "city",
    "name": "London",
    "display_name": "London, Greater London, England, United Kingdom",
    "importance": 0.96,
    "boundingbox": ["51.3473219", "51.6673219", "-0.2876474", "0.0323526"],
    "address": {"city": "London", "state": "England", "country": "United Kingdom", "country_code": "gb"},
    "extratags": {"population": "8416535", "website": "http://www.london.gov.uk"},
    "namedetails": {"name": "London", "name:fr": "Londres"},
}


def ask(name: str, settings: OnlineSettings, call: Callable[[Any], Coroutine[Any, Any, Any]]) -> Any:
    async def go() -> Any:
        async with make_online(name, settings) as atlas:
            return await call(atlas)

    return asyncio.run(go())


def names(hits: list[Hit]) -> list[str]:
    return [hit.place.name for hit in hits]


def test_nominatim_geocodes(service: Any, settings: Settings) -> None:
    service.reply("/search", [LONDON])
    (hit,) = ask(
        "nominatim", settings(), lambda atlas: atlas.geocode("london", country="GB", within=Box(50, -1, 52, 1))
    )
    assert (hit.match, hit.score, hit.matched) == ("exact", 1.0, "London")
    place = hit.place
    assert (place.id, place.kind, place.country, place.region) == ("osm:n107775", "city", "GB", "England")
    assert place.point == LatLon(51.5073219, -0.1276474)
    assert place.extent == Box(51.3473219, -0.2876474, 51.6673219, 0.0323526)
    assert place.details["population"] == "8416535"
    assert service.last.params == {
        "q": "london",
        "limit": "5",
        "countrycodes": "gb",
        "viewbox": "-1.0,50.0,1.0,52.0",
        "bounded": "1",
        "format": "jsonv2",
        "addressdetails": "1",
        "extratags": "1",
        "namedetails": "1",
        "accept-language": "en",
    }
    (alias,) = ask("nominatim", settings(), lambda atlas: atlas.geocode("Londres"))
    assert (alias.match, alias.matched) == ("alias", "Londres")


def test_nominatim_reverses_and_knows_the_sea(service: Any, settings: Settings) -> None:
    house = LONDON | {
        "osm_type": "way",
        "osm_id": 7,
        "name": "",
        "category": "place",
        "type": "house",
        "addresstype": "place",
    }
    house["display_name"] = "10, Downing Street, London"
    service.reply("/reverse", house, {"error": "Unable to geocode"}, {"error": {"code": 400, "message": "bad lat"}})
    found = ask("nominatim", settings(), lambda atlas: atlas.reverse(LatLon(51.5, -0.12)))
    assert (found.country, found.country_name, found.region) == ("GB", "United Kingdom", "England")
    assert [hit.place.kind for hit in found.places] == ["city", "address"]
    assert found.address == "London, England, United Kingdom"
    assert (service.last.params["lat"], service.last.params["lon"]) == ("51.5", "-0.12")
    sea = ask("nominatim", settings(), lambda atlas: atlas.reverse(LatLon(0, -30)))
    assert (sea.country, sea.places) == (None, ())
    with pytest.raises(ServiceFault, match="bad lat"):
        ask("nominatim", settings(), lambda atlas: atlas.reverse(LatLon(1, -30)))


def test_nominatim_looks_ids_up(service: Any, settings: Settings) -> None:
    service.reply("/lookup", [LONDON], [])
    assert ask("nominatim", settings(), lambda atlas: atlas.poi("osm:monaco:n107775")).name == "London"
    assert service.last.params["osm_ids"] == "N107775"
    assert ask("nominatim", settings(), lambda atlas: atlas.poi("osm:w1")) is None
    count = len(service.asked)
    for odd in ("osm:x1", "google:abc", "osm:n1&format=html", "osm:n", ""):
        assert ask("nominatim", settings(), methodcaller("poi", odd)) is None
    assert len(service.asked) == count


STADIUM = {
    "type": "Feature",
    "geometry": {"type": "Point", "coordinates": [13.2395, 52.5147]},
    "properties": {
        "name": "Olympiastadion",
        "street": "Olympischer Platz",
        "housenumber": "3",
        "city": "Berlin",
        "state": "Berlin",
        "country": "Germany",
        "countrycode": "DE",
        "osm_key": "leisure",
        "osm_value": "stadium",
        "osm_type": "W",
        "osm_id": 38862723,
        "type": "house",
        "extent": [13.23727, 52.5157151, 13.241757, 52.5135972],
    },
}


def test_photon_geocodes_suggests_and_reverses(service: Any, settings: Settings) -> None:
    answer = {"type": "FeatureCollection", "features": [STADIUM]}
    service.reply("/api", answer)
    service.reply("/reverse", answer, {"features": []})
    (hit,) = ask(
        "photon", settings(), lambda atlas: atlas.geocode("olympiastadion", country="de", within=Box(52, 13, 53, 14))
    )
    place = hit.place
    assert (place.id, place.kind, hit.match) == ("osm:w38862723", "leisure=stadium", "exact")
    assert place.extent == Box(52.5135972, 13.23727, 52.5157151, 13.241757)
    assert place.address == "Olympiastadion, Olympischer Platz 3, Berlin, Germany"
    assert service.last.params == {
        "q": "olympiastadion",
        "limit": "5",
        "lang": "en",
        "countrycode": "DE",
        "bbox": "13.0,52.0,14.0,53.0",
    }
    assert ask("photon", settings(), lambda atlas: atlas.geocode("olympiastadion", country="FR")) == []
    near = LatLon(52.5, 13.2)
    (close,) = ask("photon", settings(language="pl"), lambda atlas: atlas.suggest("Olymp", near=near))
    assert close.distance_km == pytest.approx(distance_km(near, place.point))
    assert service.last.params == {"q": "Olymp", "limit": "10", "lat": "52.5", "lon": "13.2"}
    found = ask("photon", settings(), lambda atlas: atlas.reverse(near))
    assert (found.country, found.region, names(found.places)) == ("DE", "Berlin", ["Berlin", "Olympiastadion"])
    assert ask("photon", settings(), lambda atlas: atlas.reverse(LatLon(0, -30))).country is None


GOOGLE_PLACE = {
    "id": "ChIJ_abc-1",
    "displayName": {"text": "Café de Paris", "languageCode": "fr"},
    "formattedAddress": "Place du Casino, 98000 Monaco",
    "location": {"latitude": 43.7392, "longitude": 7.4281},
    "viewport": {"low": {"latitude": 43.738, "longitude": 7.427}, "high": {"latitude": 43.74, "longitude": 7.43}},
    "primaryType": "cafe",
    "types": ["cafe", "restaurant"],
    "addressComponents": [{"longText": "Monaco", "shortText": "MC", "types": ["country", "political"]}],
    "internationalPhoneNumber": "+377 98 06 76 23",
}
GEOCODED = {
    "place_id": "ChIJ2",
    "formatted_address": "Monaco",
    "types": ["country", "political"],
    "address_components": [{"long_name": "Monaco", "short_name": "MC", "types": ["country", "political"]}],
    "geometry": {
        "location": {"lat": 43.738, "lng": 7.424},
        "bounds": {"southwest": {"lat": 43.72, "lng": 7.4}, "northeast": {"lat": 43.75, "lng": 7.44}},
        "location_type": "APPROXIMATE",
    },
}


def test_google_geocodes_and_reverses(service: Any, settings: Settings) -> None:
    path = "/maps/api/geocode/json"
    service.reply(path, {"status": "OK", "results": [GEOCODED]})
    (hit,) = ask("google", settings(), lambda atlas: atlas.geocode("Monaco", country="mc", within=Box(43, 7, 44, 8)))
    assert (hit.place.id, hit.place.kind, hit.place.country, hit.match) == ("google:ChIJ2", "country", "MC", "exact")
    assert service.last.params["components"] == "country:MC"
    assert service.last.params["bounds"] == "43.0,7.0|44.0,8.0"
    found = ask("google", settings(), lambda atlas: atlas.reverse(LatLon(43.7, 7.4)))
    assert (found.country, found.country_name) == ("MC", "Monaco")
    service.reply(path, {"status": "ZERO_RESULTS", "results": []})
    assert ask("google", settings(), lambda atlas: atlas.reverse(LatLon(0, 0))).country is None
    service.reply(path, {"status": "OVER_QUERY_LIMIT", "results": []}, {"status": "OK", "results": []})
    assert ask("google", settings(), lambda atlas: atlas.geocode("x")) == []
    service.reply(path, {"status": "REQUEST_DENIED", "error_message": "no", "results": []})
    count = len(service.asked)
    with pytest.raises(ServiceFault, match="check the key in GOOGLE_MAPS_API_KEY"):
        ask("google", settings(), lambda atlas: atlas.geocode("x"))
    assert len(service.asked) == count + 1


def test_google_searches_places_page_by_page(service: Any, settings: Settings) -> None:
    page = [GOOGLE_PLACE | {"id": f"id{n}"} for n in range(20)]
    service.reply("/v1/places:searchText", {"places": page, "nextPageToken": "more"}, {"places": [GOOGLE_PLACE]}, {})
    hits = ask(
        "google",
        settings(),
        lambda atlas: atlas.search_pois("Café de Paris", near=LatLon(43.7, 7.4), category="cafe", limit=30),
    )
    assert len(hits) == 21
    assert hits[-1].place.details == {"phone": "+377 98 06 76 23", "types": "cafe, restaurant"}
    first, second = (json.loads(one.body) for one in service.asked)
    assert (first["textQuery"], first["includedType"], first["pageSize"]) == ("Café de Paris", "cafe", 20)
    assert first["locationBias"]["rectangle"]["low"]["latitude"] < 43.7
    assert second["pageToken"] == "more"
    asked = service.asked[0]
    assert asked.headers["x-goog-api-key"].startswith("sesame")
    assert "key" not in asked.params
    assert "places.displayName" in asked.headers["x-goog-fieldmask"]
    assert ask("google", settings(), lambda atlas: atlas.search_pois("nothing")) == []
    with pytest.raises(BadInput, match="place types"):
        ask("google", settings(), lambda atlas: atlas.search_pois("x", category="café!"))


def test_google_suggests_with_positions_and_finds_neighbours(service: Any, settings: Settings) -> None:
    predictions = [
        {"placePrediction": {"placeId": "ChIJ_abc-1"}},
        {"queryPrediction": {}},
        {"placePrediction": {"placeId": "gone"}},
    ]
    service.reply("/v1/places:autocomplete", {"suggestions": predictions})
    service.reply("/v1/places/ChIJ_abc-1", GOOGLE_PLACE)
    service.reply("/v1/places/gone", (404, {}, b"{}"))
    service.reply("/v1/places:searchNearby", {"places": [GOOGLE_PLACE]})
    (hit,) = ask("google", settings(), lambda atlas: atlas.suggest("Café"))
    assert hit.place.name == "Café de Paris"
    (near,) = ask("google", settings(), lambda atlas: atlas.nearby(LatLon(43.739, 7.428), 200, category="amenity=cafe"))
    assert near.match == "near"
    body = json.loads(service.last.body)
    assert body["locationRestriction"]["circle"] == {"center": {"latitude": 43.739, "longitude": 7.428}, "radius": 200}
    assert (body["includedTypes"], body["rankPreference"]) == (["cafe"], "DISTANCE")
    with pytest.raises(BadInput, match="50,000"):
        ask("google", settings(), lambda atlas: atlas.nearby(LatLon(0, 0), 60_000))
    assert ask("google", settings(), lambda atlas: atlas.poi("google:../../x")) is None


BEIDA = {
    "id": "B000A816R6",
    "name": "北京大学",
    "location": "116.310905,39.992806",
    "type": "科教文化服务;学校;高等院校",
    "typecode": "141201",
    "pname": "北京市",
    "cityname": "北京市",
    "adname": "海淀区",
    "address": "颐和园路5号",
    "business": {"tel": [], "rating": "4.9"},
}


def amap(**parts: Any) -> dict[str, Any]:
    return {"status": "1", "info": "OK", "infocode": "10000", **parts}


def test_amap_turns_its_shifted_coordinates(service: Any, settings: Settings) -> None:
    geocode: dict[str, Any] = {
        "formatted_address": "北京市海淀区颐和园路5号",
        "province": "北京市",
        "city": "北京市",
        "district": "海淀区",
    }
    geocode |= {"street": [], "number": [], "location": "116.310905,39.992806", "level": "门牌号"}
    service.reply("/v3/geocode/geo", amap(geocodes=[geocode, geocode | {"location": []}]))
    (hit,) = ask("amap", settings(), lambda atlas: atlas.geocode("北京市海淀区颐和园路5号"))
    moved_m = distance_km(hit.place.point, LatLon(39.992806, 116.310905)) * 1000
    assert 300 < moved_m < 700
    assert hit.place.point.lon < 116.310905
    assert (hit.place.kind, hit.place.country, hit.place.region) == ("address", "CN", "北京市")
    assert ask("amap", settings(), lambda atlas: atlas.geocode("Paris", country="FR")) == []
    component = {"country": "中国", "province": "北京市", "city": [], "district": "海淀区"}
    regeocode = {"formatted_address": "北京市海淀区燕园街道", "addressComponent": component, "pois": [BEIDA]}
    service.reply(
        "/v3/geocode/regeo",
        amap(regeocode=regeocode),
        amap(regeocode={"formatted_address": [], "addressComponent": {}}),
    )
    found = ask("amap", settings(), lambda atlas: atlas.reverse(hit.place.point))
    assert service.last.params["location"] == "116.310905,39.992806"
    assert (found.country, found.region, names(found.places)) == ("CN", "北京市", ["海淀区", "北京大学"])
    assert ask("amap", settings(), lambda atlas: atlas.reverse(LatLon(48.85, 2.35))).country is None
    assert service.last.params["location"] == "2.350000,48.850000"


def test_amap_tips_searches_and_details(service: Any, settings: Settings) -> None:
    bare = {"id": [], "name": "肯德基", "location": [], "address": []}
    service.reply("/v3/assistant/inputtips", amap(tips=[bare, BEIDA]))
    page = [BEIDA | {"id": f"B{n}"} for n in range(25)]
    service.reply("/v5/place/text", amap(pois=page), amap(pois=[BEIDA]))
    service.reply("/v5/place/around", amap(pois=[BEIDA]))
    service.reply("/v5/place/polygon", amap(pois=[BEIDA]))
    service.reply("/v5/place/detail", amap(pois=[BEIDA]), amap(pois=[]))
    here = LatLon(39.9915, 116.305)
    assert names(ask("amap", settings(), lambda atlas: atlas.suggest("北京大"))) == ["北京大学"]
    hits = ask("amap", settings(), lambda atlas: atlas.search_pois("北京大学", limit=40))
    assert (len(hits), service.last.params["page_num"]) == (26, "2")
    assert hits[0].place.details["rating"] == "4.9"
    ask("amap", settings(), lambda atlas: atlas.search_pois("大学", near=here, category="141201"))
    assert service.last.params["types"] == "141201"
    assert len(ask("amap", settings(), lambda atlas: atlas.search_pois("大学", within=Disc(here, 3)))) == 1
    assert service.last.path == "/v5/place/polygon"
    (near,) = ask("amap", settings(), lambda atlas: atlas.nearby(here, 1000, category="学校"))
    assert service.last.params["keywords"] == "学校"
    assert near.distance_km is not None
    assert ask("amap", settings(), lambda atlas: atlas.poi("amap:B000A816R6")).name == "北京大学"
    assert ask("amap", settings(), lambda atlas: atlas.poi("amap:B0")) is None


def test_amap_reports_are_faults_and_busy_is_tried_again(service: Any, settings: Settings) -> None:
    busy = {"status": "0", "info": "CUQPS_HAS_EXCEEDED_THE_LIMIT", "infocode": "10021"}
    service.reply("/v3/geocode/geo", busy, amap(geocodes=[]))
    assert ask("amap", settings(), lambda atlas: atlas.geocode("北京")) == []
    service.reply("/v3/geocode/geo", {"status": "0", "info": "INVALID_USER_KEY", "infocode": "10001"})
    with pytest.raises(ServiceFault, match=r"INVALID_USER_KEY.*check the key in AMAP_KEY") as caught:
        ask("amap", settings(), lambda atlas: atlas.geocode("北京"))
    assert not caught.value.retryable


def test_opencage_geocodes_and_reverses(service: Any, settings: Settings) -> None:
    components = {"_type": "road", "road": "Carrer de Calatrava", "city": "Barcelona", "state": "Catalonia"}
    result = {
        "components": components | {"country": "Spain", "country_code": "es"},
        "formatted": "Carrer de Calatrava, 08017 Barcelona, Spain",
        "geometry": {"lat": 41.40139, "lng": 2.1287},
        "bounds": {"southwest": {"lat": 41.4, "lng": 2.12}, "northeast": {"lat": 41.41, "lng": 2.13}},
        "confidence": 10,
    }
    service.reply("/json", {"results": [result], "status": {"code": 200, "message": "OK"}})
    (hit,) = ask(
        "opencage",
        settings(),
        lambda atlas: atlas.geocode("Carrer de Calatrava", country="ES", within=Box(41, 2, 42, 3)),
    )
    assert (hit.place.kind, hit.place.country, hit.match) == ("street", "ES", "exact")
    assert service.last.params["bounds"] == "2.0,41.0,3.0,42.0"
    assert service.last.params["no_record"] == "1"
    found = ask("opencage", settings(), lambda atlas: atlas.reverse(LatLon(41.4, 2.13)))
    assert found.address == "Barcelona, Catalonia, Spain"
    assert service.last.params["q"] == "41.4000000,2.1300000"
    service.reply("/json", (402, {"content-type": "application/json"}, b'{"status": {"message": "quota exceeded"}}'))
    with pytest.raises(ServiceFault, match="quota exceeded"):
        ask("opencage", settings(), lambda atlas: atlas.geocode("Barcelona"))


WRONG_SHAPES: list[Any] = [
    None,
    7,
    "text",
    [],
    {},
    [1],
    {"features": {}},
    {"elements": [None]},
    {"results": 1, "status": "OK"},
]


@pytest.mark.parametrize("name", ["nominatim", "photon", "overpass", "google", "amap", "opencage"])
@pytest.mark.parametrize("shape", [*WRONG_SHAPES, {"status": "1", "geocodes": "x"}, {"status": {"code": "x"}}])
def test_wrong_shapes_are_faults_never_crashes(service: Any, settings: Settings, name: str, shape: Any) -> None:
    service.reply("*", json.dumps(shape).encode())
    calls: list[Any] = [lambda atlas: atlas.geocode("x y"), lambda atlas: atlas.reverse(LatLon(1, 2))]
    calls += [lambda atlas: atlas.nearby(LatLon(1, 2), 10), lambda atlas: atlas.suggest("x y")]
    calls += [
        lambda atlas: atlas.poi("osm:n1"),
        lambda atlas: atlas.poi("amap:B1"),
        lambda atlas: atlas.poi("google:B1"),
    ]
    for call in calls:
        try:
            answer = ask(name, settings(tries=1), call)
        except (ServiceFault, NotOffered):
            continue
        assert not answer or not getattr(answer, "country", None), answer


@pytest.mark.parametrize("name", ["nominatim", "photon", "google", "amap", "opencage"])
@pytest.mark.parametrize("text", ["", "  \n ", "\x00\x1b", "x" * 10_000_000, "' OR 1=1 --&q=2#?%00\ud800", "🏝" * 500])
def test_queries_of_any_kind_are_sent_short_and_whole_or_not_at_all(
    service: Any, settings: Settings, name: str, text: str
) -> None:
    service.reply("/search", [])
    service.reply("/api", {"features": []})
    service.reply("/maps/api/geocode/json", {"status": "ZERO_RESULTS", "results": []})
    service.reply("/v3/geocode/geo", amap(geocodes=[]))
    service.reply("/json", {"results": [], "status": {"code": 200}})
    assert ask(name, settings(), lambda atlas: atlas.geocode(text)) == []
    if text.strip("\x00\x1b \n"):
        assert service.last.params.keys() >= {"q"} or service.last.params.keys() >= {"address"}
        assert len(service.last.params.get("q") or service.last.params["address"]) <= 200
    else:
        assert service.asked == []
    assert ask(name, settings(), lambda atlas: atlas.geocode("x y", limit=0)) == []


def test_what_a_service_does_not_offer_it_says_and_names_who_does(settings: Settings) -> None:
    calls: dict[str, Callable[[Any], Any]] = {
        "geocode": lambda atlas: atlas.geocode("x"),
        "suggest": lambda atlas: atlas.suggest("x"),
        "crossing": lambda atlas: atlas.crossing("a", "b"),
        "search_documents": lambda atlas: atlas.search_documents("x"),
        "satellite": lambda atlas: atlas.satellite(LatLon(0, 0)),
    }
    for name, question in [
        ("nominatim", "suggest"),
        ("overpass", "geocode"),
        ("xyz", "geocode"),
        ("amap", "satellite"),
    ]:
        with pytest.raises(NotOffered) as caught:
            ask(name, settings(), calls[question])
        assert str(caught.value) == f"{name} does not offer {question}; {SERVICES_BY_METHOD[question]} can answer it"
    for name in ONLINE_NAMES:
        with pytest.raises(NotOffered, match="the offline atlas can answer"):
            ask(name, settings(), calls["search_documents"])


def test_services_are_made_by_name() -> None:
    atlases: list[Atlas] = [
        make_online(name, OnlineSettings()) for name in (*ONLINE_NAMES, " Nominatim ", "amap+photon")
    ]
    assert len(atlases) == 9
    with pytest.raises(BadInput, match="there are nominatim, photon, overpass, google, amap, opencage, xyz"):
        make_online("bing", OnlineSettings())
    with pytest.raises(BadInput, match="two services"):
        make_online("amap+google+photon", OnlineSettings())
