"""The weights that lie in the repository: as many as told, no more than allowed, and they play."""

import asyncio
import json
import struct
from math import prod
from pathlib import Path

import pytest

from geosleuth.agent.events import Said
from geosleuth.agent.locate import locate
from geosleuth.agent.methods import method
from geosleuth.agent.setup import AgentSetup, Resources
from geosleuth.geo import distance_km
from geosleuth.lab.scenes import World, world_atlas
from geosleuth.lab.scenes.scene_reader import clue_reader
from geosleuth.models import make_policy
from geosleuth.photo import open_photo
from geosleuth.tools.toolset import all_tools
from nano_lessons import Taught

NANO = Path(__file__).resolve().parents[1] / "model"
MOST_BYTES = 60_000_000


def test_what_ships_is_what_the_docs_say() -> None:
    with (NANO / "model.safetensors").open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    tensors = [one for name, one in header.items() if name != "__metadata__"]
    assert sum(prod(one["shape"]) for one in tensors) == 28_143_040
    assert {one["dtype"] for one in tensors} == {"BF16"}
    assert sum(path.stat().st_size for path in NANO.iterdir()) <= MOST_BYTES


@pytest.mark.slow
def test_it_reads_asks_the_map_and_answers(
    taught: list[Taught], few_towns: World, nano_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEOSLEUTH_HOME", str(nano_home))
    one = next(one for one in taught if one.scene.finest == "precise")
    photo = open_photo(one.drawing.jpeg())
    words = method("nano")
    found = asyncio.run(
        locate(
            [photo],
            AgentSetup(method=words, policy=make_policy(f"hf:{NANO}"), toolset=words.toolset(all_tools())),
            Resources(
                world_atlas(few_towns), reader=clue_reader(one.scene, one.drawing.marks, photo=photo.photo.handle)
            ),
        )
    )
    said = [event.body.step for event in found.trajectory.events if isinstance(event.body, Said)]
    calls = [call.name for step in said for call in step.calls]
    assert calls[0] == "read_text"
    assert "geocode" in calls
    assert found.trajectory.answer is not None
    assert found.trajectory.answer.point is not None
    assert distance_km(found.trajectory.answer.point, one.scene.spot.point) < 25
