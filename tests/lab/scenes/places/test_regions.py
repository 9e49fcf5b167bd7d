"""Real businesses in a world: those of an added region."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from geosleuth.atlas.regions import RegionStore
from geosleuth.lab.scenes import World, open_world
from geosleuth.lab.scenes.world import ensure_layer, world_atlas
from geosleuth.support.errors import BadInput
from geosleuth.tools.maps import poi_keyword_search
from tool_cases import MONACO, call, case_of


@pytest.fixture(scope="module")
def with_monaco(world_home: Path) -> World:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEOSLEUTH_HOME", str(world_home))
        return open_world(1, [MONACO])


def test_the_businesses_of_a_region_join_the_world(with_monaco: World) -> None:
    real = [town for town in with_monaco.towns if town.real]
    assert {town.country for town in real} == {"MC", "FR"}
    found = [one for town in real for one in with_monaco.businesses(town)]
    assert len(found) > 200
    assert all(one.real and one.id.startswith("osm:monaco:") for one in found)
    assert sum(one.street is not None for one in found) > 0.8 * len(found)
    assert sum(one.bus_stop is not None for one in found) > 0.3 * len(found)
    streets = {street.name: street for street in with_monaco.streets(real[0])}
    one = next(one for one in found if one.street in streets)
    assert 0 <= streets[str(one.street)].heading_deg(one.point) < 360


def test_map_search_finds_what_is_real_beside_what_is_made_up(with_monaco: World, tmp_path: Path) -> None:
    small = World(with_monaco.seed, "both", with_monaco.regions, (with_monaco.towns[0], with_monaco.towns[-1]))
    case = case_of(atlas=world_atlas(small, tmp_path))
    for town in small.towns:
        one = next(one for one in small.businesses(town) if not one.chain and not one.homonym)
        seen = call(poi_keyword_search, case, {"keyword": one.name})
        assert one.id in [hit["id"] for hit in seen.data["results"]]
    assert RegionStore(tmp_path).names() == ["monaco", "world-1"]


def test_a_region_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="nowhere"):
        open_world(1, [tmp_path / "nowhere.osm.pbf"])


def test_maps_that_nobody_used_for_long_are_removed_and_others_stay(few_towns: World) -> None:
    small = World(few_towns.seed, "homonyms", (), few_towns.towns[:1])
    first = ensure_layer(small)
    second = ensure_layer(replace(small, towns=few_towns.towns[1:2]))
    assert first.is_dir()
    os.utime(first, (0, 0))
    ensure_layer(small)  # used again: it is young once more
    ensure_layer(replace(small, towns=few_towns.towns[1:2]))
    assert first.is_dir()
    os.utime(first, (0, 0))
    assert ensure_layer(replace(small, towns=few_towns.towns[1:2])) == second
    assert not first.exists()
    assert second.is_dir()


def test_a_layer_lies_in_the_cache_under_all_that_it_hangs_on(few_towns: World, world_home: Path) -> None:
    small = World(few_towns.seed, "none", (), few_towns.towns[:1])
    folder = ensure_layer(small)
    assert folder.is_relative_to(world_home)
    assert ensure_layer(small) == folder
    assert ensure_layer(World(few_towns.seed, "both", (), few_towns.towns[:1])) != folder
