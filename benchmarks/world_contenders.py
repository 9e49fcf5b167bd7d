"""Who is let loose on drawn scenes by benchmarks/world.py, and what is kept of each try."""

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from geosleuth.agent.locate import locate
from geosleuth.agent.methods import method as method_of
from geosleuth.agent.setup import AgentSetup, Resources
from geosleuth.atlas import Atlas
from geosleuth.geo import distance_km
from geosleuth.lab.baselines.blind import make_blind
from geosleuth.lab.scenes import Scene, World, design_scene, open_world
from geosleuth.lab.scenes.design import Wants
from geosleuth.lab.scenes.drawing import draw_scene
from geosleuth.lab.scenes.scene import Split
from geosleuth.lab.scenes.scene_reader import clue_reader
from geosleuth.lab.scenes.world import Noise, world_atlas
from geosleuth.models.detective import Detective
from geosleuth.names import country_code
from geosleuth.photo import open_photo
from geosleuth.tools.toolset import all_tools

if TYPE_CHECKING:
    from geosleuth.models import Policy

MAP_TOOLS = ("maps_geocode", "reverse_geocode", "poi_keyword_search", "find_colocated")
CONTENDERS = ("blind", "detective", "oracle", "oracle without map")
"""Blind: the point with most people within 750 km, whatever the picture. Detective: reads pixels. Oracle: the same
detective, but it reads by the scene's clue boxes. Without map: the same once more, with no tool that asks a map."""


@dataclass(frozen=True, slots=True)
class Task:
    """One contender on one scene of one world."""

    contender: str
    number: int
    seed: int
    split: Split
    noise: Noise
    wants: Wants | None = None


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of it. ``off_km`` is None where no point was given."""

    contender: str
    number: int
    noise: Noise
    off_km: float | None
    country_right: bool
    misled: bool
    locatability: float
    finest: str
    needs_zoom: bool
    misleading: bool
    chain: bool
    calls: int
    seconds: float


_worlds: dict[str, tuple[World, Atlas]] = {}


def scene_of(task: Task) -> tuple[Scene, Atlas]:
    """The scene, and the atlas of its world; worlds are opened once a process."""
    if task.noise not in _worlds:
        world = open_world(noise=task.noise)
        _worlds[task.noise] = world, world_atlas(world)
    world, atlas = _worlds[task.noise]
    return design_scene(world, task.seed, task.number, split=task.split, wants=task.wants), atlas


def attempt(task: Task) -> Tried:
    """Make one try."""
    import time

    scene, atlas = scene_of(task)
    drawing = draw_scene(scene)
    policy: Policy = make_blind("population") if task.contender == "blind" else Detective()
    method = method_of("detective")
    names = method.toolset(all_tools()).names
    if task.contender == "oracle without map":
        names = tuple(name for name in names if name not in MAP_TOOLS)
    opened = open_photo(drawing.jpeg())
    reads_boxes = task.contender.startswith("oracle")
    began = time.perf_counter()
    finding = asyncio.run(
        locate(
            [opened],
            AgentSetup(method=method, policy=policy, toolset=all_tools().select(names)),
            Resources(
                atlas, reader=clue_reader(scene, drawing.marks, photo=opened.photo.handle) if reads_boxes else None
            ),
        )
    )
    answer = finding.answer
    named = answer.address.country.conclusion
    code = country_code(named) if named else None
    elsewhere = {clue.country for clue in scene.clues if clue.misleading}
    return Tried(
        task.contender,
        task.number,
        task.noise,
        None if answer.point is None else distance_km(answer.point, scene.spot.point),
        code == scene.spot.country,
        code is not None and code in elsewhere and code != scene.spot.country,
        scene.locatability,
        scene.finest or "none",
        scene.needs_zoom,
        any(clue.misleading for clue in scene.clues),
        scene.business is not None and (scene.business.chain or scene.business.homonym),
        len(finding.trajectory.observations),
        time.perf_counter() - began,
    )


def all_tried(tasks: Sequence[Task], keep: Path | None, jobs: int, heard: Callable[[int, int], None]) -> list[Tried]:
    """Every try, in the order of the tasks; what ``keep`` holds already is not made again."""
    kept = {(one.contender, one.number, one.noise): one for one in _kept(keep)}
    left = [task for task in tasks if (task.contender, task.number, task.noise) not in kept]
    heard(len(tasks) - len(left), len(tasks))
    for one in _made(left, jobs):
        kept[one.contender, one.number, one.noise] = one
        if keep is not None:
            with keep.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(one)) + "\n")
        heard(sum((task.contender, task.number, task.noise) in kept for task in tasks), len(tasks))
    return [kept[task.contender, task.number, task.noise] for task in tasks]


def _made(tasks: Sequence[Task], jobs: int) -> Iterator[Tried]:
    if jobs == 1:
        yield from map(attempt, tasks)
        return
    with ProcessPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(attempt, task) for task in tasks]):
            yield done.result()


def _kept(keep: Path | None) -> Iterable[Tried]:
    if keep is None or not keep.is_file():
        return
    for line in keep.read_text(encoding="utf-8").splitlines():
        yield Tried(**json.loads(line))
