"""Pages about made-up businesses: what they tell, who finds them, and the scenes that need one."""

import asyncio
from pathlib import Path

import pytest

from geosleuth.atlas import OfflineAtlas
from geosleuth.geo import distance_km
from geosleuth.lab.scenes import Scene, Wants, World, design_scene, world_atlas
from geosleuth.lab.scenes.drawing import draw_scene
from geosleuth.lab.scenes.web_pages import SOURCE, compute_founding_year, doors_by_name, generate_pages, list_page
from geosleuth.lab.traces.scripted import NO_SLIPS, StandInCaller, StandInObserver, town_on_pages
from geosleuth.lab.traces.spotagent import synthesise
from geosleuth.photo import open_photo
from geosleuth.support.errors import BadInput


@pytest.fixture(scope="module")
def paged(world: World) -> World:
    """The same world with pages."""
    return World(world.seed, world.noise, world.regions, world.towns, pages=True)


@pytest.fixture(scope="module")
def small(world: World) -> World:
    """Its towns of one country alone, which are soon written down."""
    return World(world.seed, world.noise, (), [town for town in world.towns if town.country == "EE"], pages=True)


@pytest.fixture(scope="module")
def atlas(small: World, world_home: Path) -> OfflineAtlas:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEOSLEUTH_HOME", str(world_home))
        return world_atlas(small)


def first_needing(world: World) -> Scene:
    return design_scene(world, 3, 0, split="train", wants=Wants(page=True, small=False, misleading=False))


@pytest.mark.slow
def test_a_quarter_of_scenes_needs_a_page_and_the_others_stay_as_they_are(world: World, paged: World) -> None:
    pairs = [[design_scene(one, 3, number, split="train") for one in (world, paged)] for number in range(120)]
    needing = [with_pages for _, with_pages in pairs if with_pages.needs_page]
    assert 18 <= len(needing) <= 42
    assert all(before == after for before, after in pairs if not after.needs_page)
    assert not any(before.needs_page for before, _ in pairs)


def test_signs_and_map_leave_several_towns_and_a_page_leaves_one(paged: World) -> None:
    for number in range(12):
        scene = design_scene(paged, 5, number, split="held-out", wants=Wants(page=True))
        assert scene.business is not None
        written = {clue.sort: clue for clue in scene.clues if clue.lines and not clue.misleading}
        assert {"founded"} < set(written) <= {"founded", "business", "chain", "price", "number_plate", "road_number"}
        doors = doors_by_name(paged, scene.spot.country)[scene.business.name]
        assert len({door.town.name for door in doors}) > 1
        (year,) = written["founded"].lines
        assert [door.business.id for door in doors if str(compute_founding_year(door.business)) == year] == [
            scene.business.id
        ]


def test_pages_tell_the_year_of_their_own_business_and_lists_tell_none(small: World) -> None:
    name, doors = max(doors_by_name(small, "EE").items(), key=lambda one: len(one[1]))
    for door in doors:
        entry, *more = generate_pages(door, doors)
        assert f"Founded in {compute_founding_year(door.business)}" in entry.text
        assert all(page.town == door.town.name for page in (entry, *more))
    told = list_page(name, doors).text
    assert all(door.town.name in told for door in doors[:3])
    assert not any(str(compute_founding_year(door.business)) in told for door in doors)


def test_the_document_search_finds_pages_and_still_knows_countries(small: World, atlas: OfflineAtlas) -> None:
    scene = first_needing(small)
    assert scene.business is not None
    asked = f"{scene.business.name} {compute_founding_year(scene.business)}"
    found = asyncio.run(atlas.search_documents(asked, limit=5))
    assert found[0].source == SOURCE
    assert scene.spot.town in found[0].title
    assert len({one.title for one in found}) > 1, "pages of namesakes are found as well"
    assert asyncio.run(atlas.search_documents("Estonia climate", limit=3))[0].source != SOURCE


def test_a_script_that_searches_finds_the_town(small: World, atlas: OfflineAtlas) -> None:
    scene = first_needing(small)
    drawing = draw_scene(scene)
    photo = open_photo(drawing.jpeg())
    finding = asyncio.run(
        synthesise(
            photo,
            StandInObserver(scene, drawing.marks, photo=photo.photo.handle, slips=NO_SLIPS),
            StandInCaller(scene.id, slips=NO_SLIPS, searches=True),
            atlas=atlas,
        )
    )
    assert "search_web" in [one.name for one in finding.trajectory.observations]
    assert finding.answer.point is not None
    assert distance_km(finding.answer.point, scene.spot.point) < 25


def test_whose_year_it_is_decides_and_not_the_page_it_stands_on() -> None:
    pages = [
        (
            "Kohvik Rukkilill in Tartu: a visit",
            "Fine. Not to be confused with Kohvik Rukkilill in Narva, which dates from 1923.",
        ),
        ("Kohvik Rukkilill, Tartu - business directory", "Kohvik Rukkilill, cafe in Tartu. Founded in 1951."),
    ]
    assert town_on_pages(pages, ["Kohvik Rukkilill"], ["1923"]) == "Narva"
    assert town_on_pages(pages, ["Kohvik Rukkilill"], ["1951"]) == "Tartu"
    assert town_on_pages(pages, ["Apteek"], ["1951"]) is None


def test_a_page_can_only_be_wanted_where_there_are_pages(world: World, paged: World) -> None:
    with pytest.raises(BadInput, match="has no pages"):
        design_scene(world, 3, 0, split="train", wants=Wants(page=True))
    with pytest.raises(BadInput, match="no other level"):
        Wants(page=True, level="country")
    assert not design_scene(paged, 3, 0, split="train", wants=Wants(level="region")).needs_page
