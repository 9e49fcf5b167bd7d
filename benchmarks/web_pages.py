"""Does a web search decide? Drawn scenes in a world with pages, and a script with and without the search.

    python benchmarks/web_pages.py [--scenes N] [--designed N] [--seeds A,B,C] [--json] [--check]

- share: of the designed scenes, those whose right answer needs a page. Counted by asking, not by the design's own word:
  the map must have doors of the shop's name in at least two towns of the country, 25 km and more apart, nothing else
  that is written may name a place, and the pages of that name and year must be about one town alone.
- search: SpotAgent's stand-ins without errors (`lab.traces.scripted`), with ``search_web`` and without it, on the
  same drawn pictures. Right is an answer within 25 km. Differences are taken scene by scene.
- changed: how often the answer moves by more than 25 km because of the search, to the right place and to a wrong one.

Scenes are of the held-out split, by seeds that nothing here was written by.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from geosleuth.agent.methods import method
from geosleuth.atlas import OfflineAtlas
from geosleuth.geo import LatLon, distance_km
from geosleuth.lab.scenes import Scene, World, design_scene, open_world, world_atlas
from geosleuth.lab.scenes.drawing import draw_scene
from geosleuth.lab.scenes.web_pages import SOURCE, compute_founding_year, doors_by_name
from geosleuth.lab.score.metrics import mcnemar_p, mean_estimate, wilson
from geosleuth.lab.traces.scripted import NO_SLIPS, StandInCaller, StandInObserver
from geosleuth.lab.traces.spotagent import synthesise
from geosleuth.names import fold
from geosleuth.photo import open_photo

SEEDS = (20_101, 20_102, 20_103)
RIGHT_KM = 25.0
LEAST_SHARE, LEAST_POINTS = 20.0, 10.0
_MOST_HITS = 50
_NAMES_A_PLACE = frozenset({"street_name", "house_number", "town_name", "bus_stop", "distance", "phone", "postcode"})


@dataclass(frozen=True, slots=True)
class Tried:
    """One scene: whether it needs a page, and where each script ends up."""

    scene: Scene
    needs: bool
    without: LatLon | None
    searching: LatLon | None


async def needs_page(scene: Scene, world: World, atlas: OfflineAtlas) -> bool:
    """Whether map and signs leave several towns, and pages leave one."""
    door, country = scene.business, scene.spot.country
    honest = [clue for clue in scene.clues if not clue.misleading]
    if door is None or any(clue.sort in _NAMES_A_PLACE or clue.level == "region" for clue in honest):
        return False
    hits = await atlas.search_pois(door.name, limit=_MOST_HITS)
    spots = [
        hit.place.point
        for hit in hits
        if fold(hit.place.name) == fold(door.name) and hit.place.country in (None, country)
    ]
    apart = any(distance_km(one, scene.spot.point) > RIGHT_KM for one in spots)
    here = any(distance_km(one, scene.spot.point) <= RIGHT_KM for one in spots)
    written = {line for clue in honest for line in clue.lines}
    towns = {
        one.town
        for one in doors_by_name(world, country).get(door.name, ())
        if str(compute_founding_year(one.business)) in written
    }
    told = await atlas.search_documents(f"{door.name} {compute_founding_year(door)}", limit=_MOST_HITS)
    is_found = any(doc.source == SOURCE and str(compute_founding_year(door)) in doc.snippet for doc in told)
    return apart and here and is_found and len(towns) == 1


async def answer(scene: Scene, atlas: OfflineAtlas, *, searches: bool) -> LatLon | None:
    """Where the script ends up."""
    drawing = draw_scene(scene)
    photo = open_photo(drawing.jpeg())
    finding = await synthesise(
        photo,
        StandInObserver(scene, drawing.marks, photo=photo.photo.handle, slips=NO_SLIPS),
        StandInCaller(scene.id, slips=NO_SLIPS, searches=searches),
        atlas=atlas,
        tools=[name for name in method("spotagent").tools if searches or name != "search_web"],
    )
    return finding.answer.point


def off_km(point: LatLon | None, scene: Scene) -> float:
    """How far off an answer is; infinite without one."""
    return float("inf") if point is None else distance_km(point, scene.spot.point)


def percent(hits: int, of: int) -> dict[str, float]:
    """A share with Wilson's interval, in percent."""
    found = wilson(hits, of)
    return {"value": 100 * found.value, "low": 100 * found.low, "high": 100 * found.high, "of": of}


def figures_of(tries: Sequence[Tried]) -> dict[str, Any]:
    """Right answers of both scripts, their difference, and what the search changed."""
    before = np.array([off_km(one.without, one.scene) <= RIGHT_KM for one in tries])
    after = np.array([off_km(one.searching, one.scene) <= RIGHT_KM for one in tries])
    moved = np.array([is_moved(one) for one in tries])
    points = mean_estimate(after.astype(float) - before, lowest=-1.0, highest=1.0)
    gained, lost = int((after & ~before).sum()), int((before & ~after).sum())
    return {
        "without": percent(int(before.sum()), len(tries)),
        "searching": percent(int(after.sum()), len(tries)),
        "points": {"value": 100 * points.value, "low": 100 * points.low, "high": 100 * points.high},
        "p": mcnemar_p(lost, gained),
        "changed": percent(int(moved.sum()), len(tries)),
        "to_right": gained,
        "to_wrong": lost,
    }


def is_moved(one: Tried) -> bool:
    """Whether the search moves the answer by more than 25 km, or makes one."""
    if one.without is None or one.searching is None:
        return (one.without is None) != (one.searching is None)
    return distance_km(one.without, one.searching) > RIGHT_KM


async def measure(scenes: int, designed: int, seeds: Sequence[int]) -> dict[str, Any]:
    """All figures."""
    world = open_world(pages=True)
    atlas = world_atlas(world)
    needing = 0
    tries: list[Tried] = []
    for seed in seeds:
        for number in range(designed // len(seeds)):
            scene = design_scene(world, seed, number, split="held-out")
            needs = await needs_page(scene, world, atlas)
            needing += needs
            if number < scenes // len(seeds):
                without = await answer(scene, atlas, searches=False)
                tries.append(Tried(scene, needs, without, await answer(scene, atlas, searches=True)))
    total = designed // len(seeds) * len(seeds)
    return {
        "share": percent(needing, total),
        "there": figures_of([one for one in tries if one.needs]),
        "all": figures_of(tries),
        "elsewhere": figures_of([one for one in tries if not one.needs]),
    }


def show(found: dict[str, Any]) -> None:
    """Print the figures."""

    def told(one: dict[str, float]) -> str:
        return f"{one['value']:.1f} ({one['low']:.1f} to {one['high']:.1f})"

    print(f"scenes whose right answer needs a page: {told(found['share'])} % of {found['share']['of']:,}")
    print("within 25 km, %             without a search        with it                 points               changed")
    for name, label in (("there", "where a page is needed"), ("elsewhere", "elsewhere"), ("all", "all scenes")):
        one = found[name]
        print(
            f"{label:24}{one['without']['of']:5.0f}  {told(one['without']):22}  {told(one['searching']):22}  "
            f"{told(one['points']):20} {told(one['changed'])} %, {one['to_right']} to the right place, "
            f"{one['to_wrong']} away from it; p = {one['p']:.2g}"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=450, help="scenes that the scripts work on")
    parser.add_argument("--designed", type=int, default=3000, help="scenes that the share is counted in")
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit with 1 below 20 % or 10 points")
    asked = parser.parse_args()
    found = asyncio.run(measure(asked.scenes, asked.designed, [int(seed) for seed in asked.seeds.split(",")]))
    if asked.json:
        print(json.dumps(found))
    else:
        show(found)
    short = found["share"]["value"] < LEAST_SHARE or found["there"]["points"]["value"] < LEAST_POINTS
    sys.exit(1 if asked.check and short else 0)


if __name__ == "__main__":
    main()
