"""The map of a world, asked as the tools ask it."""

import asyncio
import io
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.regions import RegionStore
from geosleuth.lab.scenes import Business, World, WorldTown
from geosleuth.lab.scenes.world import ensure_layer
from geosleuth.tools import Case, Tool
from geosleuth.tools.maps import find_crossing, maps_geocode, poi_detail_query, poi_keyword_search
from tool_cases import call, case_of


@pytest.fixture(scope="module")
def case(few_on_the_map: OfflineAtlas) -> Case:
    return case_of(atlas=few_on_the_map)


def doors(world: World, every: int = 3) -> list[tuple[WorldTown, Business]]:
    """One plain business of every third town."""
    return [
        (town, next(one for one in world.businesses(town) if not (one.chain or one.homonym)))
        for town in world.towns[::every]
    ]


def found(tool: Tool, case: Case, **arguments: str | float) -> list[Mapping[str, Any]]:
    """What a tool found, called as a model calls it."""
    seen = call(tool, case, arguments)
    assert seen.failure is None, seen.text
    return list(seen.data["results"])


def test_a_name_over_a_door_is_found_by_keyword(few_towns: World, case: Case) -> None:
    for _, one in doors(few_towns):
        first = found(poi_keyword_search, case, keyword=one.name)[0]
        assert first["id"] == one.id
        assert (first["lat"], first["lon"]) == pytest.approx((one.point.lat, one.point.lon), abs=1e-5)


def test_a_street_with_a_number_is_found_in_its_town(few_towns: World, case: Case) -> None:
    for town, one in doors(few_towns):
        address = f"{one.street} {one.house_number}, {town.name_on_signs}"
        assert one.id in [hit["id"] for hit in found(maps_geocode, case, address=address)], address


def test_a_telephone_number_leads_to_its_door(few_towns: World, case: Case) -> None:
    for _, one in doors(few_towns):
        assert one.phone
        assert found(poi_keyword_search, case, keyword=one.phone)[0]["id"] == one.id


def test_a_crossing_is_found_where_the_streets_meet(few_towns: World, case: Case) -> None:
    for town in few_towns.towns[::3]:
        streets = few_towns.streets(town)
        first, second = next(
            (one, other)
            for one in streets
            for other in streets
            if one is not other and set(one.nodes) & set(other.nodes)
        )
        node = next(node for node in first.nodes if node in second.nodes)
        where = first.line[first.nodes.index(node)]
        hits = found(find_crossing, case, first=first.name, second=second.name)
        assert min(abs(hit["lat"] - where.lat) + abs(hit["lon"] - where.lon) for hit in hits) < 1e-4


def test_results_do_not_pass_for_real_places(few_towns: World, case: Case) -> None:
    _, one = doors(few_towns)[0]
    told = call(poi_detail_query, case, {"poi_id": one.id})
    assert "made up" in told.text
    assert told.sources == ("geosleuth world (made up), region world-1",)
    assert one.id.startswith("made-up:world-1:")


def test_a_map_shows_the_streets_and_credits_nobody_else(few_towns: World, few_on_the_map: OfflineAtlas) -> None:
    picture = asyncio.run(few_on_the_map.map(few_towns.towns[0].point, zoom=16, size=(400, 400)))
    image = np.asarray(Image.open(io.BytesIO(picture.png)).convert("RGB"))
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 50
    assert "made up" in picture.attribution


def test_a_map_that_is_there_is_not_made_again_and_an_outdated_one_is(few_towns: World, tmp_path: Path) -> None:
    small = replace(few_towns, towns=few_towns.towns[:2])
    heard: list[str] = []

    def hear(what: str, _done: int, _total: int) -> None:
        heard.append(what)

    ensure_layer(small, tmp_path, hear)
    assert heard
    heard.clear()
    ensure_layer(small, tmp_path, hear)
    assert not heard
    ensure_layer(replace(small, towns=few_towns.towns[2:4]), tmp_path, hear)
    assert heard


def test_a_map_that_was_broken_off_leaves_nothing(few_towns: World, tmp_path: Path) -> None:
    def stop(_what: str, done: int, _total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ensure_layer(few_towns, tmp_path, stop)
    assert RegionStore(tmp_path).names() == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_whole_map_is_made_within_a_minute(world: World, tmp_path: Path) -> None:
    began = time.process_time()
    folder = ensure_layer(world, tmp_path)
    assert time.process_time() - began < 60
    info = RegionStore(folder).list()[0]
    assert info.features > 30_000
    assert info.streets > 6_000
    assert info.size_bytes < 80_000_000
