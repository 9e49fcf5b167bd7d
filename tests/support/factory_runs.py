"""Runs of the factory over scenes written by hand; as a program, one that waits to be killed."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

from factory_scenes import plain_picture, scene_of
from geosleuth.lab.bench.run import DataInfo
from geosleuth.lab.bench.sets.dataset import Card, DataSet, Item
from geosleuth.lab.scenes.design import build_truth
from geosleuth.lab.traces.factory import Kind, Recipe, Work, run_factory
from geosleuth.lab.traces.factory.trial import ScenePicture
from geosleuth.lab.traces.scripted import Slips


def hand_set(folder: Path, count: int) -> DataSet:
    """So many scenes with their pictures in a folder; all look alike, and each is a scene of its own."""
    folder.mkdir(exist_ok=True)
    path = folder / "picture.jpg"
    scene, marks = scene_of()
    if not path.exists():
        path.write_bytes(plain_picture(scene, marks))

    def items() -> Iterator[Item]:
        for number in range(1, count + 1):
            scene, marks = scene_of(number)
            yield Item(scene.id, ScenePicture(scene, marks, path), build_truth(scene))

    card = Card(name="hand", title="", photos=count, licence="", home="", get="", layout="", thresholds_km=(1.0, 25.0))
    return DataSet(card, folder, items)


def hand_work(folder: Path, count: int, kind: Kind = "spotagent", processes: int = 1) -> Work:
    """The work on them, with the plain atlas."""
    data = hand_set(folder, count)
    return Work(
        Recipe(kind=kind, seed=3, world=None, slips=Slips(bad_call=0.15)),
        data,
        DataInfo("hand", count, f"{count:064}"),
        processes,
    )


def contents(run: Path) -> dict[str, bytes]:
    """Every file that a run has made of its scenes, by name."""
    return {path.name: path.read_bytes() for path in sorted((run / "trajectories").glob("*/*"))}


if __name__ == "__main__":
    asyncio.run(run_factory(hand_work(Path(sys.argv[1]), int(sys.argv[3])), Path(sys.argv[2])))
