"""How many steps a second the training environment makes on one core.

    python benchmarks/environment.py [--episodes N] [--json] [--check]

Rollouts as TRL makes them: reset with the file of a drawn scene, the first ten of 1024 x 768 pixels in turn; calls one
after the other until the budget is spent; then the answer and its reward. The calls are valid, drawn from a fixed seed
over all tools of the default method that work offline, against the base atlas and no region. A step is one call or one
answer; what resets take counts too. Pictures come back as pixels: nothing is encoded. The first figure leaves out
static_map_query, which draws maps, the second has it; read_text has a stand-in that reads nothing, since text reading
is no part of the environment. Before the clock starts every tool is called a few times, which opens what a process
opens once. Time is that of the process on its cores, threads included, so that other work on the machine does not
count. `--check` exits with 1 where the first figure is under the one we promise.
"""

import argparse
import itertools
import json
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from geosleuth.geo import LatLon  # noqa: E402
from geosleuth.lab.scenes.design import SIZE, design_scene  # noqa: E402
from geosleuth.lab.scenes.drawing import draw_scene  # noqa: E402
from geosleuth.lab.scenes.environment import Posed, build_environment_class, offline_setting  # noqa: E402
from geosleuth.lab.scenes.world import open_world  # noqa: E402
from geosleuth.lab.score import Truth  # noqa: E402
from geosleuth.photo import open_photo  # noqa: E402
from random_calls import valid_arguments  # noqa: E402

PROMISED_STEPS = 200.0
_WARMING = 10
_SCENES = 10
DRAWS_MAPS = "static_map_query"
ANSWER = '{"lat": 43.7384, "lon": 7.4246, "country": "Monaco", "city": "Monaco", "probability": 0.7, "radius_km": 5}'


def photos() -> list[bytes]:
    """The first scenes of the usual size, as files: a reset opens one of them, and drawing is no part of it."""
    world = open_world(1)
    found: list[bytes] = []
    for number in itertools.count():
        scene = design_scene(world, 1, number, split="train")
        if scene.size == SIZE:
            found.append(draw_scene(scene).jpeg())
        if len(found) == _SCENES:
            return found
    return found


def measured(pictures: list[bytes], episodes: int, without: Iterable[str]) -> dict[str, Any]:
    """Steps a second of CPU, and the milliseconds of a call by tool."""
    setting = offline_setting()
    tools = [one for one in setting.toolset if one.name not in set(without)]
    contents = itertools.cycle(pictures)
    truth = Truth(LatLon(43.7384, 7.4246), "Monaco", None, "Monaco")
    make: Any = build_environment_class(
        setting, lambda _row: Posed((open_photo(next(contents)),), truth, lambda _view: [])
    )
    environment = make()
    # What is opened once in the life of a process is no part of a step.
    warm = random.Random("warm")
    for _ in range(_WARMING):
        for one in tools:
            environment.reset()
            getattr(environment, one.name)(**valid_arguments(one, warm))
    rng = random.Random("measured")
    took: dict[str, list[float]] = {}
    steps = 0
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(episodes):
        begun = time.process_time()
        environment.reset()
        took.setdefault("reset", []).append(time.process_time() - begun)
        for _ in range(setting.budget.turns - 1):
            one = rng.choice(tools)
            begun = time.process_time()
            getattr(environment, one.name)(**valid_arguments(one, rng))
            took.setdefault(one.name, []).append(time.process_time() - begun)
        environment.answer(reply=ANSWER)
        environment.get_reward()
        steps += setting.budget.turns
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {
        "steps": steps,
        "steps_per_cpu_second": round(steps / cpu, 1),
        "steps_per_second": round(steps / wall, 1),
        "ms": {name: round(1000 * statistics.mean(seconds), 2) for name, seconds in sorted(took.items())},
    }


def main() -> int:
    """Measure, print, and say whether the promise holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    pictures = photos()
    found = {
        "without maps": measured(pictures, options.episodes, [DRAWS_MAPS]),
        "with maps": measured(pictures, max(1, options.episodes // 4), []),
    }
    if options.json:
        print(json.dumps({"machine": machine, "episodes": options.episodes, **found}, indent=1))
    else:
        print(f"machine: {machine}; {options.episodes} episodes")
        for name, one in found.items():
            print(f"{name}: {one['steps_per_cpu_second']} steps a CPU second ({one['steps_per_second']} on the clock)")
            print("  mean ms of CPU: " + ", ".join(f"{tool} {ms}" for tool, ms in one["ms"].items()))
    kept = found["without maps"]["steps_per_cpu_second"] >= PROMISED_STEPS
    if options.check:
        print(f"promised: {PROMISED_STEPS:g}; {'kept' if kept else 'MISSED'}", file=sys.stderr)
    return 0 if kept or not options.check else 1


if __name__ == "__main__":
    sys.exit(main())
