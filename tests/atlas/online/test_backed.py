"""Map services with the offline atlas behind them: it fills in what they lack, takes over, and says so once."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.online import BackedAtlas, OnlineSettings, announcing_takeovers, make_online
from geosleuth.atlas.protocol import Atlas
from geosleuth.atlas.regions import import_osm
from geosleuth.geo import LatLon
from geosleuth.pipeline.plan import make_plan
from geosleuth.pipeline.request import LocateRequest
from geosleuth.pipeline.searches import online_maps
from geosleuth.support.errors import BadInput
from geosleuth.support.service_use import ServiceUse, counting_services, merge_uses

Settings = Callable[..., OnlineSettings]
MONACO = Path(__file__).resolve().parents[3] / "examples" / "regions" / "monaco.osm.pbf"
SQUARE = LatLon(43.7391, 7.4280)
CASINO = {
    "osm_type": "way",
    "osm_id": 4097656,
    "lat": "43.7391",
    "lon": "7.4277",
    "category": "amenity",
    "type": "casino",
    "name": "Casino de Monte-Carlo",
    "display_name": "Casino de Monte-Carlo, Monaco",
    "address": {"country": "Monaco", "country_code": "mc"},
}


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> OfflineAtlas:
    folder = tmp_path_factory.mktemp("regions")
    import_osm(MONACO, folder=folder)
    return OfflineAtlas(folder)


def asked(
    names: str, settings: OnlineSettings, offline: OfflineAtlas, *questions: Callable[[Atlas], Coroutine[Any, Any, Any]]
) -> tuple[list[Any], list[str]]:
    """The answers, and what was said meanwhile."""
    said: list[str] = []

    async def go() -> list[Any]:
        services = [make_online(name, settings) for name in names.split(",")]
        async with BackedAtlas(services, offline, settings.breaker_rest_s) as atlas:
            with announcing_takeovers(said.append):
                return [await question(atlas) for question in questions]

    return asyncio.run(go()), said


def test_what_a_service_lacks_is_filled_in_without_a_word(
    service: Any, settings: Settings, offline: OfflineAtlas
) -> None:
    service.reply("/search", [])
    service.reply("/reverse", CASINO)
    (misread, here, near, drawn), said = asked(
        "nominatim",
        settings(),
        offline,
        lambda atlas: atlas.geocode("Rue Grlmaldi"),
        lambda atlas: atlas.reverse(SQUARE),
        lambda atlas: atlas.nearby(SQUARE, 300, category="cafe"),
        lambda atlas: atlas.map(SQUARE, size=(64, 64)),
    )
    assert misread[0].place.name == "Rue Grimaldi"
    assert "monaco" in misread[0].place.id
    assert (here.country, here.places[0].place.name) == ("MC", "Casino de Monte-Carlo")
    assert here.source.startswith("nominatim, ")  # the region is the atlas's
    assert near
    assert drawn.png.startswith(b"\x89PNG")
    assert said == []


def test_a_service_that_fails_is_replaced_and_that_is_said_once(
    service: Any, settings: Settings, offline: OfflineAtlas
) -> None:
    service.reply("/search", [CASINO], (500, {}, b""))
    questions: list[Callable[[Atlas], Coroutine[Any, Any, Any]]] = [
        lambda atlas: atlas.geocode("Casino de Monte-Carlo"),
        lambda atlas: atlas.geocode("Rue Grimaldi"),
        lambda atlas: atlas.geocode("Rue Plati"),
        lambda atlas: atlas.reverse(SQUARE),
    ]
    (first, second, third, here), said = asked("nominatim", settings(), offline, *questions)
    assert first[0].place.source == "nominatim"
    assert [hits[0].place.name for hits in (second, third)] == ["Rue Grimaldi", "Rue Plati"]
    assert "OpenStreetMap" in second[0].place.source
    assert here.country == "MC"
    assert len(said) == 1
    assert said[0].startswith("127.0.0.1: failed (status 500)")
    assert said[0].endswith("the offline atlas answers in place of nominatim")
    # It is left alone: three tries of the second question, and none of those after it.
    assert [one.path for one in service.asked] == ["/search"] * 4


def test_failed_calls_and_those_left_out_after_them_are_counted(
    service: Any, settings: Settings, offline: OfflineAtlas
) -> None:
    service.reply("/search", [CASINO], (500, {}, b""))
    questions: list[Callable[[Atlas], Coroutine[Any, Any, Any]]] = [
        lambda atlas: atlas.geocode("Casino de Monte-Carlo"),
        lambda atlas: atlas.geocode("Rue Grimaldi"),
        lambda atlas: atlas.geocode("Rue Plati"),
        lambda atlas: atlas.crossing("Rue Grimaldi", "Rue Plati"),
    ]
    with counting_services() as uses:
        asked("nominatim", settings(), offline, *questions)
    # The fourth is none of this service's: it offers no crossings.
    assert merge_uses(uses) == (ServiceUse("nominatim", asked=3, failed=2, fallbacks=2),)
    assert not ServiceUse("nominatim", asked=100, failed=1).is_alarming
    assert ServiceUse("nominatim", asked=99, failed=1).is_alarming


def test_a_service_that_recovers_is_asked_again(service: Any, settings: Settings, offline: OfflineAtlas) -> None:
    service.reply("/search", (500, {}, b""), [CASINO])

    async def later(atlas: Atlas) -> Any:
        await asyncio.sleep(0.1)
        return await atlas.geocode("Casino de Monte-Carlo")

    (_, again), said = asked(
        "nominatim", settings(tries=1, breaker_rest_s=0.05), offline, lambda atlas: atlas.geocode("Rue Grimaldi"), later
    )
    assert again[0].place.source == "nominatim"
    assert len(said) == 1


def test_an_object_of_a_service_is_found_in_the_extract(
    service: Any, settings: Settings, offline: OfflineAtlas
) -> None:
    service.reply("/lookup", (500, {}, b""))
    (grimaldi,) = asyncio.run(offline.geocode("Rue Grimaldi", limit=1))
    reference = grimaldi.place.id.rpartition(":")[2]
    (place, unknown), said = asked(
        "nominatim",
        settings(tries=1),
        offline,
        lambda atlas: atlas.poi(f"osm:{reference}"),
        lambda atlas: atlas.poi("osm:n1"),
    )
    assert place == grimaldi.place
    assert unknown is None
    assert len(said) == 1


def test_several_services_are_asked_in_their_order(service: Any, settings: Settings, offline: OfflineAtlas) -> None:
    service.reply("/search", [])
    bar = {"type": "node", "id": 7, "lat": 43.7391, "lon": 7.4281, "tags": {"name": "Bar", "amenity": "cafe"}}
    service.reply("/interpreter", {"elements": [bar]})
    (near, crossing), said = asked(
        "nominatim,overpass",
        settings(),
        offline,
        lambda atlas: atlas.nearby(SQUARE, 300, category="cafe"),
        lambda atlas: atlas.crossing("Rue Grimaldi", "Rue Suffren Reymond"),  # Overpass wants an area
    )
    assert [(hit.place.id, hit.place.source) for hit in near] == [("osm:n7", "overpass")]
    assert crossing[0].place.id.startswith("osm:monaco:")
    assert said == []


def test_a_written_address_is_consent_to_its_host_and_to_no_other() -> None:
    made = online_maps(
        LocateRequest(maps="nominatim,overpass", maps_url=("http://geo.lan:8080", "https://10.0.0.7/api"))
    )
    assert isinstance(made, BackedAtlas)
    hosts = [getattr(one, "host", "") for one in made.services]
    assert hosts == ["geo.lan", "10.0.0.7"]
    with pytest.raises(BadInput, match=r"would contact overpass-api\.de, which is not allowed"):
        online_maps(LocateRequest(maps="nominatim,overpass", maps_url=("http://geo.lan:8080",)))


def test_public_servers_stay_under_the_usual_rules() -> None:
    with pytest.raises(BadInput, match="must be asked over https"):
        online_maps(LocateRequest(maps="nominatim", maps_url=("http://nominatim.openstreetmap.org",)))
    made = online_maps(LocateRequest(maps="nominatim", maps_url=("https://nominatim.openstreetmap.org",)))
    assert isinstance(made, BackedAtlas)
    (service,) = made.services
    assert getattr(service, "settings").private_hosts == frozenset()  # noqa: B009


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (LocateRequest(maps_url=("http://geo.lan",)), "name the service with --maps"),
        (LocateRequest(maps="nominatim", maps_url=("http://a.lan", "http://b.lan")), "once for each service"),
        (LocateRequest(maps="nominatim", maps_url=("geo.lan:8080",)), "must be one such as https:"),
        (LocateRequest(maps="nominatim", maps_url=("http://169.254.169.254/",)), "cloud-metadata addresses never are"),
        (LocateRequest(maps="nominatim,xyz", maps_url=("http://[fd00:ec2::254]/",)), "so it is not asked"),
        (LocateRequest(maps="nominatim", maps_url=("http://me:secret@geo.lan",)), "user name or password"),
        (LocateRequest(maps="nominatim", maps_url=("http://geo.lan",), offline=True), "--offline rules out"),
    ],
)
def test_what_can_not_be_meant_is_refused(request_: LocateRequest, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        make_plan(request_)
