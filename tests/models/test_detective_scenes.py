"""The detective on made-up street scenes with real facts, of places that nothing was fitted on."""

import ast
import asyncio
from pathlib import Path

import pytest

from geosleuth.lab.scenes import locales
from geosleuth.lab.scenes.locales import COACHES, CUES, LANDS, NAMED_AFTER_TOWNS, SURNAMES
from scene_drawing import drawable
from scene_places import REGIONS, extracts
from scene_scoring import NEAR_KM, Outcome, figures, open_bench
from scene_writing import RICH_BUS
from scenes import SHARES, make_scenes

SUPPORT = Path(__file__).parents[1] / "support"
TABLES = Path(locales.__file__).parent
FEW, SOME, MANY = 9, 20, 300
FEW_KINDS = ("business", "misleading", "nothing")


def work(count: int, home: Path, seed: int = 1) -> list[Outcome]:
    bench = open_bench(home / "regions")
    scenes = make_scenes(count, split="held-out", seed=seed)
    if count == FEW:
        # The first of some kinds: finding and reading lines takes seconds a scene.
        scenes = list({scene.kind: scene for scene in reversed(scenes) if scene.kind in FEW_KINDS}.values())

    async def all_of_them() -> list[Outcome]:
        return [await bench.run(scene) for scene in scenes]

    return asyncio.run(all_of_them())


def told(outcomes: list[Outcome]) -> str:
    return "\n".join(
        f"{one.scene.id} {one.faults} {one.scene.texts} read as {one.read}" for one in outcomes if one.faults
    )


@pytest.mark.parametrize("count", [FEW, pytest.param(SOME, marks=pytest.mark.slow)])
def test_a_few_scenes_are_located_and_nothing_is_made_up(atlas_home: Path, count: int) -> None:
    outcomes = work(count, atlas_home)
    found = figures(outcomes)
    assert found.right_country >= 0.9, told(outcomes)
    assert found.near_business is not None
    assert found.near_business >= 0.7, told(outcomes)
    assert found.followed is not None
    assert found.followed <= 0.2, told(outcomes)
    assert found.without_clue > 0
    assert found.confident_without_clue == 0
    for one in outcomes:
        assert (one.answer.probability is None) == (not one.answer.located)
        assert one.answer.explanation


@pytest.mark.slow
def test_three_hundred_scenes_keep_the_promises(atlas_home: Path, shared: Path) -> None:
    assert set(extracts()) == set(REGIONS), f"{shared} lacks an extract"
    outcomes = work(MANY, atlas_home)
    assert figures(outcomes).broken() == [], told(outcomes)
    sure = [one for one in outcomes if one.scene.business and (one.answer.probability or 0) >= 0.9]
    assert sum(one.off_km <= NEAR_KM for one in sure) >= 0.9 * len(sure)


def test_scenes_are_the_same_every_time_and_mixed_as_promised() -> None:
    scenes = make_scenes(100, split="held-out", seed=7)
    assert scenes == make_scenes(100, split="held-out", seed=7)
    assert scenes != make_scenes(100, split="held-out", seed=8)
    for kind, share in SHARES.items():
        assert abs(sum(scene.kind == kind for scene in scenes) - 100 * share) <= 1
    assert scenes[0].jpeg() == scenes[0].jpeg()


def test_no_place_is_in_both_splits() -> None:
    fitted = make_scenes(MANY, split="calibration")
    held_out = make_scenes(MANY, split="held-out")
    doors = [{scene.business for scene in scenes if scene.business} for scenes in (fitted, held_out)]
    assert all(doors)
    assert not doors[0] & doors[1]
    towns = [
        {(scene.truth.country, scene.truth.city) for scene in scenes if scene.truth and not scene.business}
        for scenes in (fitted, held_out)
    ]
    assert len(towns[0]) > 40
    assert not towns[0] & towns[1]


def test_misleading_things_come_from_elsewhere_and_blank_scenes_tell_nothing() -> None:
    scenes = make_scenes(MANY, split="held-out")
    misled = [scene for scene in scenes if scene.kind == "misleading"]
    assert len({scene.misleading for scene in misled}) == 6
    assert sum(scene.misleading == RICH_BUS for scene in misled) >= 10
    assert sum(scene.kind == "named" and scene.misleading is not None for scene in scenes) >= 10
    assert all(scene.truth and scene.misleading_country != scene.truth.country for scene in misled)
    assert all(scene.truth is None and len("".join(scene.texts)) <= 3 for scene in scenes if scene.kind == "nothing")


def test_a_rich_tour_bus_says_more_than_the_house_behind_it() -> None:
    for scene in make_scenes(MANY, split="held-out"):
        if scene.misleading == RICH_BUS:
            *house, bus = scene.boards
            assert len(bus.lines) == 3
            assert all(len(board.lines) == 1 for board in house if board.role == "notice")


def test_a_number_alone_and_words_alone_are_all_there_is_to_read() -> None:
    scenes = make_scenes(MANY, split="held-out")
    numbers = [scene.texts for scene in scenes if scene.kind == "phone"]
    assert len(numbers) >= 10
    assert all(len(texts) == 1 and "+" in texts[0] for texts in numbers)
    words = [text for scene in scenes if scene.kind == "language" for text in scene.texts]
    assert len(words) >= 20
    assert not any(map(str.isdigit, "".join(words)))


@pytest.mark.slow
def test_what_is_drawn_stands_where_it_is_said_to() -> None:
    for scene in make_scenes(12, split="calibration", seed=3):
        drawn = scene.drawn()
        assert drawn.image.size == scene.size
        assert " ".join(text.text for text in drawn.texts).split() == " ".join(scene.texts).split()
        for text in drawn.texts:
            left, top, right, bottom = text.box
            assert 0 <= left < right <= scene.size[0]
            assert 0 <= top < bottom <= scene.size[1]
            assert text.letter_px >= 12


def test_every_word_of_every_land_can_be_drawn() -> None:
    words = [
        word
        for land in LANDS
        for word in (*land.words, *land.streets, *land.prices, *(town.name for town in land.towns))
    ]
    words += [line for cue in (*CUES, *NAMED_AFTER_TOWNS) for line in cue.lines]
    words += [*COACHES.values(), *(surname for surnames in SURNAMES.values() for surname in surnames)]
    assert [word for word in words if not drawable(word)] == []
    assert len({land.code for land in LANDS}) >= 40
    assert all(len(land.towns) >= 4 for land in LANDS)


@pytest.mark.parametrize(
    "path",
    [
        *(SUPPORT / f"{name}.py" for name in ("scene_places", "scene_writing", "scene_drawing", "scenes")),
        *sorted(TABLES.glob("*.py")),
    ],
    ids=lambda path: path.stem,
)
def test_scenes_share_no_table_with_the_detective(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    ours = {module for module in modules if module.startswith("geosleuth")}
    assert ours <= {"geosleuth.geo", "geosleuth.lab.score", "geosleuth.lab.scenes.locales"}
