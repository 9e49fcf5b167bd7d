"""How far a rule comes that asks the map for all lines at once: what a policy of the method `nano` has to beat.

    python examples/nano/all_lines.py [--scenes 200] [--seed 3003] [--split held-out] [--json]

It reads the photo; where the reading names parts in which writing is too small, it zooms to the first of them and reads
that; it asks for all lines of the newest reading that has any, and answers with the first hit. Scenes, tools and text
reading (by clue boxes, a stand-in) are those of `geosleuth train evaluate --method nano`; the map of the world
is made where it is not there.
"""

import argparse
import json
import math
import os
import platform
import sys

from geosleuth.geo import LatLon, distance_km
from geosleuth.lab.scenes import open_world, world_atlas
from geosleuth.lab.scenes.design import design_scene
from geosleuth.lab.scenes.environment import GeoEnvironment, build_environment_class, offline_setting, scene_poser
from geosleuth.lab.score.metrics import wilson
from nano.teacher import Notes, points_in

WITHIN_KM = (0.5, 25.0, 750.0)


def main() -> None:
    """Play the scenes, and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=3003)
    parser.add_argument("--split", choices=("train", "held-out"), default="held-out")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    world = open_world(1)
    setting = offline_setting("nano", atlas=world_atlas(world), answer_by="reply", reward="ours")
    poser = scene_poser(world, seed=given.seed, split=given.split, reading="clue boxes")
    environment = build_environment_class(setting, poser)()
    errors = []
    for number in range(given.scenes):
        found = first_hit(environment, number)
        truth = design_scene(world, given.seed, number, split=given.split).spot.point
        errors.append(math.inf if found is None else distance_km(found, truth))
        if sys.stderr.isatty():
            print(f"\r{number + 1} of {given.scenes} scenes", end="", file=sys.stderr, flush=True)
    shares = {f"{km:g} km": wilson(sum(error <= km for error in errors), len(errors)) for km in WITHIN_KM}
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    if given.json:
        rows = {
            far: [round(100 * one, 1) for one in (share.value, share.low, share.high)] for far, share in shares.items()
        }
        print(json.dumps({"machine": machine, "scenes": given.scenes, "within": rows}))
        return
    print(f"{given.scenes} scenes of seed {given.seed} ({given.split}), {machine}")
    for far, share in shares.items():
        print(f"within {far}: {share.value:.1%} ({share.low:.1%} to {share.high:.1%})")


def first_hit(environment: GeoEnvironment, number: int) -> LatLon | None:
    """Where the rule says that a scene is."""
    notes = Notes(environment, environment.reset(scene=number))
    notes.call("read_text")
    if notes.looks:
        notes.call("zoom", bbox_2d=notes.looks[0])
        notes.call("read_text", image=f"image-{notes.views}")
    points = points_in(notes.call("geocode", address="#*")) if notes.read else []
    return points[0] if points else None


if __name__ == "__main__":
    main()
