"""How fast the factory makes trajectories with its stand-ins, what it rejects, and whether what it keeps replays.

    python benchmarks/factory.py --scenes 400 --processes 2

Prints the machine, CPU seconds for each kept trajectory, how long 2,000 of them take on two free cores at that rate,
the table of rejections, and how many of the kept ones replay to the same observations. Wall time says little on a
machine that does other things as well; CPU time is what to compare.
"""

import argparse
import asyncio
import os
import platform
import resource
import tempfile
import time
from pathlib import Path

from geosleuth.agent import read_trajectory
from geosleuth.lab.scenes.world import ensure_layer, open_world
from geosleuth.lab.traces.factory import (
    Recipe,
    SceneRange,
    Work,
    compute_tally,
    list_kept_files,
    open_atlas,
    read_photo,
    replay_difference,
    run_factory,
)
from geosleuth.lab.traces.spotagent import Tally, tally_markdown
from geosleuth.photo import open_photo

GOAL, CORES, GOAL_MIN = 2000, 2, 20


def cpu_s() -> float:
    """CPU seconds of this process and of those of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def make(scenes: SceneRange, recipe: Recipe, run: Path, processes: int) -> tuple[float, float]:
    """Wall and CPU seconds of a whole run, loading included."""
    wall, cpu = time.perf_counter(), cpu_s()
    work = Work(recipe, scenes.data(), scenes.info(), processes)
    ending = asyncio.run(run_factory(work, run))
    print(f"the run ended: {ending.words}")
    return time.perf_counter() - wall, cpu_s() - cpu


async def replayed(run: Path, recipe: Recipe, most: int) -> tuple[int, int]:
    """How many of the kept trajectories replay, and how many were tried."""
    atlas = open_atlas(recipe)
    good = tried = 0
    for path in list_kept_files(run):
        if tried >= most:
            break
        tried += 1
        difference = await replay_difference(read_trajectory(path), open_photo(read_photo(path)), atlas)
        good += difference is None
        if difference is not None:
            print(f"{path.name}: {difference}")
    return good, tried


def report(tally: Tally, wall_s: float, cpu: float, processes: int) -> None:
    """Everything in figures."""
    each, every = cpu / max(1, tally.kept), cpu / max(1, tally.made)
    print(f"machine: {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    rate = tally.kept / wall_s
    print(f"{tally.made} made, {tally.kept} kept in {wall_s:.0f} s with {processes} processes: {rate:.2f} kept/s")
    print(f"CPU: {cpu:.0f} s, {each:.2f} s for each kept, {every:.2f} s for each made (loading included)")
    minutes = GOAL * each / CORES / 60
    print(f"{GOAL} kept on {CORES} free cores at that rate: {minutes:.1f} min (wanted: {GOAL_MIN} at most)")
    print(f"\n{tally_markdown(tally)}")


def main() -> None:
    """Make, count, replay."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--replay", type=int, default=10**9, help="how many kept trajectories to replay at most")
    words = parser.parse_args()
    recipe = Recipe(kind="spotagent")
    ensure_layer(open_world(1))
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        scenes = SceneRange(count=words.scenes, first=words.first)
        wall_s, cpu = make(scenes, recipe, run, words.processes)
        report(compute_tally(run), wall_s, cpu, words.processes)
        good, tried = asyncio.run(replayed(run, recipe, words.replay))
        print(f"replay to the same observations: {good} of {tried}")


if __name__ == "__main__":
    main()
