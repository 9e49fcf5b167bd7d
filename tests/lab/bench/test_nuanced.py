"""Sixty right answers in five shapes, placed by their words as the nuanced metric and rewards place them."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import osmium
import pytest

from geosleuth.answer.answer import envelope
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.placing import place_words
from geosleuth.geo import LatLon, distance_km
from geosleuth.lab.bench.placed import create_placer
from geosleuth.lab.bench.prose import read_reply
from homes import add_region

FROM_ATLAS = (
    ("Schöneberger Straße 12", "22149 Hamburg", "Germany", "DE", LatLon(53.551, 9.994)),
    ("8852 Sunset Boulevard", "Los Angeles", "United States", "US", LatLon(34.052, -118.244)),
    ("Avenida Paulista 1578", "São Paulo", "Brazil", "BR", LatLon(-23.548, -46.636)),
)
EXTRACTS = {
    "monaco": ("Monaco", "Monaco", "MC"),
    "andorra": ("Andorra la Vella", "Andorra", "AD"),
    "helsinki": ("Helsinki", "Finland", "FI"),
}
OTHER = {
    "MC": "La photo a été prise au {address}, Monaco, à Monaco.",
    "AD": "La fotografía fue tomada en {address}, Andorra la Vella, Andorra.",
    "FI": "Kuva on otettu osoitteessa {address}, Helsinki, Suomi.",
    "DE": "Das Foto wurde wohl in der {address}, 22149 Hamburg, Deutschland aufgenommen.",
    "US": "La photo montre le {address}, Los Angeles, États-Unis.",
    "BR": "A foto foi tirada na {address}, São Paulo, Brasil.",
}


@dataclass(frozen=True)
class Place:
    address: str
    city: str
    country: str
    code: str
    point: LatLon
    on_map: bool

    def replies(self) -> dict[str, str]:
        """The same answer, said in five ways."""
        full = f"{self.address}, {self.city}, {self.country}"
        fields = {"country": self.country, "city": self.city, "address": self.address}
        return {
            "city": f"<answer>{self.city}, {self.country}</answer>",
            "address": f"<answer>{full}</answer>",
            "prose": "The street signs and the trams narrow it down, and the shop front settles it. "
            f"Therefore the photo was most likely taken at {self.address} in {self.city}, {self.country}.",
            "json": f"Here is my answer:\n```json\n{json.dumps(fields, ensure_ascii=False)}\n```",
            "other language": OTHER[self.code].format(address=self.address),
        }


def addresses(extract: Path, city: str) -> Iterator[tuple[str, LatLon]]:
    """House addresses of a town in an extract, one a street, in the order of the file."""
    streets: set[str] = set()
    for node in osmium.FileProcessor(str(extract), osmium.osm.NODE):
        tags = dict(node.tags)
        street, number = tags.get("addr:street"), tags.get("addr:housenumber", "")
        if (
            not isinstance(node, osmium.osm.Node)
            or street is None
            or street in streets
            or not number.isdigit()
            or tags.get("addr:city", city) != city
        ):
            continue
        streets.add(street)
        assert isinstance(node, osmium.osm.Node)
        yield f"{street} {number}", LatLon(node.location.lat, node.location.lon)


def places(shared: Path) -> list[Place]:
    found = [Place(*one, on_map=False) for one in FROM_ATLAS]
    for name, where in EXTRACTS.items():
        known = list(addresses(shared / "data" / "osm" / f"{name}.osm.pbf", where[0]))
        found += [
            Place(address, *where, point, on_map=True) for address, point in known[:: max(1, len(known) // 3)][:3]
        ]
    return found


@pytest.fixture
def world(atlas_home: Path, shared: Path) -> OfflineAtlas:
    for name in EXTRACTS:
        add_region(shared / "data" / "osm" / f"{name}.osm.pbf", atlas_home / "data" / "regions")
    return OfflineAtlas()


def test_right_answers_are_placed_whatever_their_shape(world: OfflineAtlas, shared: Path) -> None:
    asked = [(one, shape, reply) for one in places(shared) for shape, reply in one.replies().items()]
    assert len(asked) == 60
    texts = [envelope(read_reply(reply).address) for *_, reply in asked]
    hits = asyncio.run(place_words(world, texts))
    errors_km: dict[str, list[float]] = defaultdict(list)
    for (place, shape, reply), text in zip(asked, texts, strict=True):
        hit = hits.get(text)
        if hit is None:
            continue
        country = hit.place.country or asyncio.run(world.reverse(hit.place.point)).country
        assert country == place.code, (reply, hit)
        errors_km[shape].append(distance_km(place.point, hit.place.point))
        if place.on_map:
            assert shape == "city" or hit.level in ("address", "street", "feature"), (reply, text, hit)
    assert sum(map(len, errors_km.values())) >= 57
    on_map = {shape: values[3:] for shape, values in errors_km.items()}
    for shape in ("address", "prose", "json", "other language"):
        assert median(on_map[shape]) < min(0.3, median(on_map["city"])), shape


@pytest.mark.slow
def test_rewards_place_text_by_the_same_function(world: OfflineAtlas, shared: Path) -> None:
    place = places(shared)[-1]
    text = f"{place.address}, {place.city}, {place.country}"
    hit = asyncio.run(place_words(world, [text]))[text]
    placed = create_placer(lambda: world)(text)
    assert placed is not None
    assert placed.point == hit.place.point
