"""Addresses, locatability and tags follow from what is legible, and from nothing else."""

from dataclasses import replace

import pytest

from geosleuth.lab.bench.makers.locatability import TAGS
from geosleuth.lab.scenes import Scene, Wants, World, build_address, build_tags, build_truth, compute_locatability
from worlds import scenes


@pytest.fixture(scope="module")
def many(world: World) -> list[Scene]:
    return scenes(world, 250)


def test_an_address_says_no_more_than_legible_clues_do(many: list[Scene]) -> None:
    for scene in many:
        address, spot = build_address(scene), scene.spot
        named = any(clue.country == spot.country and clue.visibility != "hidden" for clue in scene.clues)
        assert address.country.conclusion == (spot.country_name if named else None)
        assert address.region.conclusion == (spot.region if scene.finest in ("region", "precise") else None)
        assert bool(address.precise.conclusion) == (scene.finest == "precise")
        for level in (address.country, address.region, address.precise):
            assert bool(level.reasoning) >= bool(level.conclusion)
            assert level.conclusion or level.uncertainty
        if address.precise.conclusion:
            assert address.precise.conclusion.endswith(spot.town)


def test_what_misleads_is_named_and_set_aside(world: World) -> None:
    for scene in scenes(world, 30, wants=Wants(level="country", misleading=True)):
        address = build_address(scene)
        false = next(clue for clue in scene.clues if clue.misleading)
        if address.country.conclusion:
            assert " / ".join(false.lines) in (address.country.reasoning or "")
        assert not any(" / ".join(false.lines) in clue for clue in address.country.clues)


def test_the_truth_is_the_spot(many: list[Scene]) -> None:
    for scene in many:
        truth = build_truth(scene)
        assert (truth.point, truth.country, truth.city) == (scene.spot.point, scene.spot.country, scene.spot.town)


def test_locatability_follows_the_scale(many: list[Scene]) -> None:
    for scene in many:
        assert scene.locatability == compute_locatability(scene)
        low, high = {"precise": (8, 10), "region": (6.5, 8.5), "country": (5, 8), None: (1, 5.5)}[scene.finest]
        assert low <= scene.locatability <= high


def test_a_clue_that_is_hidden_or_small_makes_a_scene_harder(world: World) -> None:
    for scene in scenes(world, 20, wants=Wants(level="precise", small=False, misleading=False, hidden=False)):
        small = replace(scene, clues=tuple(replace(clue, visibility="small") for clue in scene.clues))
        hidden = replace(scene, clues=tuple(replace(clue, visibility="hidden") for clue in scene.clues))
        assert compute_locatability(hidden) < compute_locatability(small) < compute_locatability(scene)


def test_tags_are_the_ten_and_say_what_is_there(many: list[Scene]) -> None:
    for scene in many:
        tags = build_tags(scene)
        assert tuple(tags) == TAGS
        assert set(tags.values()) <= {"yes", "no", "maybe"}
        assert (tags["sign"] == "no") == (not any(clue.lines for clue in scene.clues))
        assert (tags["mountains_and_rivers"] == "yes") == (scene.look.terrain != "flat")
