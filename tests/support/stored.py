"""Samples for stores: real small runs with their pictures, and a set to put them into."""

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from export_runs import detective_run, resumed_run
from geosleuth.agent import Trajectory, rebuild_album
from geosleuth.geo import LatLon
from geosleuth.lab.score import Truth
from geosleuth.lab.traces import About, Rejected, Sample
from geosleuth.photo import encode
from small_runs import small_photo

ABOUT = About(
    name="small",
    title="Small runs",
    licence="CC0",
    how_made="By hand, for tests.",
    sources=("a pattern of colours (CC0)",),
    faults=("it teaches nothing",),
    settings={"seed": 1, "rates": {"miss": 0.1}},
)


def about(**changes: Any) -> About:
    """The set, with some of it changed."""
    return replace(ABOUT, **changes)


@cache
def pictures(number: int = 0) -> dict[str, bytes]:
    """The pictures of one of the two runs; those that tools drew are grey."""
    run = real_run(number)
    album = rebuild_album(run, [small_photo()]).album
    return {image.handle: encode(album[image.handle]) for image in run.images}


def real_run(number: int = 0) -> Trajectory:
    """One of two real runs."""
    return (detective_run, resumed_run)[number]()


def sample(number: int, **changes: Any) -> Sample:
    """A sample under a key of its own, with an id of its own."""
    which = number % 2
    draws = random.Random(f"sample {number}")
    run = replace(real_run(which), id=f"{draws.getrandbits(64):016x}")
    settings: dict[str, Any] = {
        "key": f"scene-{number:05d}",
        "trajectory": run,
        "images": pictures(which),
        "scene": f"scene-{number:05d}",
        "source": "spotagent",
        "split": "held-out" if number % 5 == 4 else "train",
        "truth": Truth(LatLon(53.5, 10.0), "DE", "Hamburg", "Hamburg"),
        "meta": {"level": "precise", "number": number},
    }
    return Sample(**(settings | changes))


def made(count: int) -> Iterator[Sample | Rejected]:
    """So many things, every third of them rejected."""
    for number in range(count):
        if number % 3 == 2:
            reason = "far_answer" if number % 2 else "failed_call"
            yield Rejected(key=f"no-{number}", scene=f"scene-{number:05d}", source="spotagent", reason=reason)
        else:
            yield sample(number)
