"""How far the tool `text_clues` leads where signs tell no more than an area: its first place for all readable lines.

    python examples/nano/area_lines.py [--scenes 400] [--seed 2002] [--split train] [--json]

No picture is drawn: the lines are the scene's own, those of misleading signs among them. Scenes are those of
`geosleuth train evaluate --method nano`, and so is the map, which is made where it is not there.
"""

import argparse
import asyncio
import json
import os
import platform
import statistics
import time
from collections import Counter

from geosleuth.geo import LatLon, distance_km
from geosleuth.lab.scenes import open_world, world_atlas
from geosleuth.lab.scenes.design import design_scene
from geosleuth.lab.scenes.scene import Scene
from geosleuth.photo import Album
from geosleuth.tools import Case
from geosleuth.tools.text_clues import text_clues

WITHIN_KM = 25.0


def main() -> None:
    """Ask for the lines of each scene, and print the shares by what tells the area."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=400)
    parser.add_argument("--seed", type=int, default=2002)
    parser.add_argument("--split", choices=("train", "held-out"), default="train")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    world = open_world(1)
    case = Case(Album(), world_atlas(world))
    asked, found, seconds = Counter[str](), Counter[str](), []
    for number in range(given.scenes):
        scene = design_scene(world, given.seed, number, split=given.split)
        if scene.finest != "region":
            continue
        began = time.perf_counter()
        first = asyncio.run(first_place(case, scene))
        seconds.append(time.perf_counter() - began)
        sort = telling_sort(scene)
        asked[sort] += 1
        found[sort] += first is not None and distance_km(first, scene.spot.point) <= WITHIN_KM
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    median_ms = round(1000 * statistics.median(seconds), 1)
    if given.json:
        rows = {sort: [found[sort], count] for sort, count in asked.most_common()}
        print(json.dumps({"machine": machine, "median_ms": median_ms, "within 25 km": rows}))
        return
    print(f"{asked.total()} of {given.scenes} scenes of seed {given.seed} ({given.split}), {machine}")
    for sort, count in asked.most_common():
        print(f"{sort}: {found[sort]} of {count} within {WITHIN_KM:g} km")
    print(f"all: {found.total()} of {asked.total()}; {median_ms} ms a question (median)")


async def first_place(case: Case, scene: Scene) -> LatLon | None:
    """The likeliest place of all lines together, None where they lead to none."""
    lines = [line for clue in scene.clues if clue.visibility != "hidden" for line in clue.lines]
    places = (await text_clues(case, text="\n".join(lines))).data["together"]["places"]
    return LatLon(places[0]["lat"], places[0]["lon"]) if places else None


def telling_sort(scene: Scene) -> str:
    """What tells the area."""
    telling = {
        clue.sort
        for clue in scene.clues
        if clue.level == "region" and clue.visibility != "hidden" and not clue.misleading
    }
    return " and ".join(sorted(telling))


if __name__ == "__main__":
    main()
