"""Mainland China: where it is, how its maps are shifted, and who is asked about it."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from geosleuth.atlas.online import OnlineSettings, RegionRouter, make_online
from geosleuth.atlas.online.amap import sounds_chinese
from geosleuth.atlas.online.base import OnlineAtlas
from geosleuth.atlas.online.http import OnlineClient
from geosleuth.atlas.protocol import Hit, Place, Reverse
from geosleuth.geo import Disc, LatLon, bearing_deg, distance_km
from geosleuth.geo.gcj02 import in_mainland_china, to_gcj02

BEIJING, PARIS = LatLon(39.9042, 116.4074), LatLon(48.8566, 2.3522)
INSIDE = {
    "Beijing": BEIJING,
    "Shenzhen": LatLon(22.54, 114.06),
    "Zhuhai": LatLon(22.27, 113.57),
    "Xiamen": LatLon(24.48, 118.09),
    "Sanya": LatLon(18.25, 109.5),
    "Urumqi": LatLon(43.8, 87.6),
    "Kashgar": LatLon(39.47, 75.99),
    "Lhasa": LatLon(29.65, 91.1),
    "Mohe": LatLon(52.97, 122.54),
    "Dandong": LatLon(40.13, 124.38),
}
OUTSIDE = {
    "Paris": PARIS,
    "Hong Kong": LatLon(22.28, 114.16),
    "Macau": LatLon(22.19, 113.54),
    "Taipei": LatLon(25.03, 121.56),
    "Seoul": LatLon(37.57, 126.98),
    "Hanoi": LatLon(21.03, 105.85),
    "Ulaanbaatar": LatLon(47.92, 106.92),
    "Almaty": LatLon(43.24, 76.89),
    "Kathmandu": LatLon(27.71, 85.32),
    "Vladivostok": LatLon(43.12, 131.89),
}


def test_where_mainland_china_is() -> None:
    assert {name for name, point in INSIDE.items() if not in_mainland_china(point)} == set()
    assert {name for name, point in OUTSIDE.items() if in_mainland_china(point)} == set()


def test_the_shift_is_the_known_one() -> None:
    """Tiananmen: maps there lie about 550 m to the north-east of where satellites see it."""
    shifted = to_gcj02(LatLon(39.907333, 116.391083))
    assert distance_km(shifted, LatLon(39.908736, 116.397327)) < 0.02
    assert 40 < bearing_deg(LatLon(39.907333, 116.391083), shifted) < 85


def test_what_sounds_chinese() -> None:
    for text in ("北京大学", "Beijing, China", "中国银行", "CHINA", "麦当劳(王府井店)"):
        assert sounds_chinese(text), text
    for text in ("東京タワー", "서울 中區", "Paris", "Chinatown, London", "", "machina"):
        assert not sounds_chinese(text), text


class Recorder(OnlineAtlas):
    """An atlas that notes what it was asked and answers with its own name, or not at all."""

    name = "recorder"
    base_url = "https://recorder.example"

    def __init__(self, name: str, found: bool = True) -> None:
        super().__init__(OnlineClient(OnlineSettings()))
        self.label = name
        self.found = found
        self.build_request: list[str] = []

    def _hits(self, question: str) -> list[Hit]:
        self.build_request.append(question)
        place = Place(f"{self.label}:1", self.label, "city", PARIS, Disc(PARIS, 0), self.label)
        return [Hit(place, 1.0, "exact", self.label)] if self.found else []

    async def geocode(self, *_: Any, **__: Any) -> list[Hit]:
        return self._hits("geocode")

    async def suggest(self, *_: Any, **__: Any) -> list[Hit]:
        return self._hits("suggest")

    async def search_pois(self, *_: Any, **__: Any) -> list[Hit]:
        return self._hits("search_pois")

    async def nearby(self, *_: Any, **__: Any) -> list[Hit]:
        return self._hits("nearby")

    async def reverse(self, point: LatLon) -> Reverse:
        self._hits("reverse")
        return Reverse(point, None, None, None, (), self.label)

    async def poi(self, place_id: str) -> Place | None:
        hits = self._hits("poi")
        return hits[0].place if hits and place_id.startswith(self.label) else None


Ask = Callable[[RegionRouter], Coroutine[Any, Any, Any]]


@pytest.mark.parametrize(
    ("ask", "who"),
    [
        (lambda router: router.geocode("x", within=Disc(BEIJING, 10)), "china"),
        (lambda router: router.geocode("北京", within=Disc(PARIS, 10)), "elsewhere"),
        (lambda router: router.geocode("x", country="CN"), "china"),
        (lambda router: router.geocode("北京", country="jp"), "elsewhere"),
        (lambda router: router.geocode("北京"), "china"),
        (lambda router: router.geocode("Hefei, China"), "china"),
        (lambda router: router.geocode("Hefei"), "elsewhere"),
        (lambda router: router.suggest("上海"), "china"),
        (lambda router: router.suggest("上海", near=PARIS), "elsewhere"),
        (lambda router: router.search_pois("KFC", near=BEIJING), "china"),
        (lambda router: router.search_pois("KFC"), "elsewhere"),
        (lambda router: router.nearby(BEIJING, 10), "china"),
        (lambda router: router.nearby(PARIS, 10), "elsewhere"),
    ],
)
def test_the_router_asks_who_knows_best(ask: Ask, who: str) -> None:
    router = RegionRouter(china=Recorder("china"), elsewhere=Recorder("elsewhere"))
    (hit,) = asyncio.run(ask(router))
    assert hit.place.name == who


def test_the_router_asks_the_other_when_the_first_finds_nothing() -> None:
    china, elsewhere = Recorder("china"), Recorder("elsewhere", found=False)
    router = RegionRouter(china=china, elsewhere=elsewhere)
    (hit,) = asyncio.run(router.geocode("Hefei"))
    assert (hit.place.name, elsewhere.build_request) == ("china", ["geocode"])
    assert asyncio.run(router.geocode("Hefei", country="FR")) == [], "a named country leaves no doubt"
    assert china.build_request == ["geocode"]


def test_a_pair_of_names_makes_a_router() -> None:
    router = make_online("amap+google", OnlineSettings())
    assert isinstance(router, RegionRouter)
    assert isinstance(router.china, OnlineAtlas)
    assert isinstance(router.elsewhere, OnlineAtlas)
    assert (router.china.name, router.elsewhere.name) == ("amap", "google")
    asyncio.run(router.aclose())
