"""Region files in which some bytes are no longer what they were."""

import logging
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from geosleuth.atlas.regions import DamagedRegion, RegionInfo, Regions
from geosleuth.geo import Disc, LatLon
from geosleuth.support.errors import BadInput

CASINO = LatLon(43.7392, 7.4277)
QUESTIONS: dict[str, Callable[[Regions], object]] = {
    "search": lambda regions: regions.search_pois("Café de Paris"),
    "search near": lambda regions: regions.search_pois("Carrefour", near=CASINO, limit=100),
    "search within": lambda regions: regions.search_pois("hotel", within=Disc(CASINO, 1.0), category="tourism=hotel"),
    "suggest": lambda regions: regions.suggest("ca", near=CASINO),
    "nearby": lambda regions: regions.nearby(CASINO, 5000, limit=1000),
    "crossing": lambda regions: regions.crossing("Rue Grimaldi", "Rue Suffren Reymond"),
    "approach": lambda regions: regions.crossing("Rue de l'Abbaye", "Place de la Mairie"),
    "geocode": lambda regions: regions.geocode("12 Rue Grimaldi, Monaco"),
    "poi": lambda regions: regions.poi("osm:bad:n4316767531"),
    "colocated": lambda regions: regions.colocated(["amenity=pharmacy", "cafe", "Boulevard des Moulins"], 500),
    "list": lambda regions: [*regions.store.list(), *regions.store.list_damaged()],
}


def _with_flipped_bytes(whole: bytes, seed: int) -> bytes:
    chance = random.Random(seed)
    bad = bytearray(whole)
    for _ in range(chance.randint(50, 1500)):
        bad[chance.randrange(100, len(bad))] = chance.randrange(256)
    return bytes(bad)


@pytest.mark.parametrize("seed", range(15))
def test_flipped_bytes_give_an_answer_or_a_line_that_names_the_region(
    tmp_path: Path, monaco: RegionInfo, seed: int
) -> None:
    (tmp_path / "bad.region.sqlite").write_bytes(_with_flipped_bytes(monaco.path.read_bytes(), seed))
    told = []
    for ask in QUESTIONS.values():
        try:
            ask(Regions(tmp_path, only=["bad"]))
        except BadInput as error:  # DamagedRegion is one; anything else fails the test
            told.append(error)
    for complaint in told:
        assert isinstance(complaint, DamagedRegion)
        assert complaint.name == "bad"
        assert "geosleuth atlas add EXTRACT --name bad" in str(complaint)
        assert "\n" not in str(complaint)


def test_a_sound_region_answers_beside_damaged_ones(
    tmp_path: Path, monaco: RegionInfo, caplog: pytest.LogCaptureFixture
) -> None:
    whole = monaco.path.read_bytes()
    for seed in range(5):
        (tmp_path / f"bad{seed}.region.sqlite").write_bytes(_with_flipped_bytes(whole, seed))
    (tmp_path / "good.region.sqlite").write_bytes(whole)
    regions = Regions(tmp_path)
    with caplog.at_level(logging.WARNING):
        for name, ask in QUESTIONS.items():
            assert name == "poi" or ask(regions), name
    assert "is damaged" in caplog.text


def test_what_a_user_asks_for_is_never_called_damage(regions: Regions) -> None:
    for text in ("\ud800", "\x00", "' OR 1=1", "é" * 5000):
        regions.search_pois(text)
        regions.geocode(text)
        regions.suggest(text)
        regions.crossing(text, text)
        regions.colocated([text, "cafe"], 100)
