"""A world with an added region shows its real doors."""

from pathlib import Path

import pytest

from geosleuth.geo import distance_km
from geosleuth.lab.scenes import Wants, open_world
from worlds import scenes

MONACO = Path(__file__).resolve().parents[4] / "examples" / "regions" / "monaco.osm.pbf"


@pytest.mark.slow
def test_real_businesses_stand_where_they_do(world_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOSLEUTH_HOME", str(world_home))
    world = open_world(1, [MONACO])
    towns = [town for town in world.towns if town.real]
    split = towns[0].split
    found = scenes(world, 25, split=split, wants=Wants(country="MC", level="precise"))
    doors = {one.id: one for town in towns for one in world.businesses(town)}
    for scene in found:
        assert scene.business is not None
        assert scene.business.real
        assert doors[scene.business.id] == scene.business
        assert distance_km(scene.spot.point, scene.business.point) < 0.02
    everywhere = scenes(world, 120, split=split)
    share = sum(scene.spot.country == "MC" for scene in everywhere) / len(everywhere)
    assert 0.15 < share < 0.4
