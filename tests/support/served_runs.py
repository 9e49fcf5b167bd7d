"""Runs whose photos are answered by a model server on loopback, through the real loop and a real policy.

The server's model looks closer once and then names a point that follows from the photo's pixels alone: whoever asks,
and however often it takes, the answer is the same.
"""

import asyncio
import hashlib
import io
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from PIL import Image

from geosleuth.agent import TrajectoryWriter
from geosleuth.agent.locate import locate
from geosleuth.agent.setup import AgentSetup, Resources
from geosleuth.geo import LatLon
from geosleuth.lab.bench.run.folder import RunFolder
from geosleuth.lab.bench.run.journal import Attempted, Job
from geosleuth.lab.bench.run.manifest import DataInfo, Manifest
from geosleuth.lab.bench.sets.dataset import Card, DataSet, Item
from geosleuth.lab.score import Truth
from geosleuth.models import EndpointSettings, Policy, make_policy
from geosleuth.photo import open_photo
from geosleuth.tools import Toolset
from geosleuth.tools.image_tools import image_zoom_in_tool
from openai_server import Reply, Request, chat_reply
from small_runs import small_method

if TYPE_CHECKING:
    from geosleuth.atlas import Atlas

TURNS = 2
_CARD = Card(
    name="colours",
    title="One colour each",
    photos=None,
    licence="none",
    home="",
    get="",
    layout="",
    thresholds_km=(25.0,),
)


@dataclass(frozen=True, slots=True)
class Coloured:
    """A photo of one colour, made when it is read."""

    number: int

    @property
    def where(self) -> str:
        return f"colour {self.number}"

    def read(self) -> bytes:
        colour = (self.number * 37 % 256, self.number // 7 % 256, self.number * 101 % 256)
        out = io.BytesIO()
        Image.new("RGB", (48, 32), colour).save(out, "PNG")
        return out.getvalue()

    def size_bytes(self) -> int | None:
        return None


def coloured_set(photos: int) -> DataSet:
    """So many small photos; none tells where it was taken."""
    items = [Item(f"photo-{number}", Coloured(number), Truth(LatLon(10.0, 20.0))) for number in range(photos)]
    return DataSet(_CARD, Path(), lambda: items)


def manifest_for(photos: int) -> Manifest:
    """The manifest of a run over them; its names are always the same."""
    return Manifest(data=DataInfo("colours", photos, "00" * 32), settings={"thinks": "server"}, name_key="5a" * 32)


def begin(path: Path, photos: int) -> RunFolder:
    """A run over them."""
    return RunFolder.begin(path, manifest_for(photos))


def says(request: Request) -> Reply:
    """What the model says: a closer look first, then a point that follows from the photo."""
    messages: list[dict[str, Any]] = request.json["messages"]
    if not any(message["role"] == "tool" for message in messages):
        return chat_reply("I look closer.", [("image_zoom_in_tool", {"bbox_2d": [4, 4, 24, 24]})])
    digest = hashlib.sha256(request.images[0]).digest()
    answer = {"lat": digest[0] / 4, "lon": digest[1] / 2, "explanation": "By its colour."}
    return chat_reply(json.dumps(answer))


@dataclass(frozen=True, slots=True)
class ServedMaking:
    """Makes an attempt that asks a server; can be sent to other processes."""

    url: str
    settings: EndpointSettings
    marks: Path | None = None

    async def __call__(self) -> "ServedReady":
        policy = make_policy("server:colours", base_url=self.url, settings=self.settings)
        return ServedReady(ServedAttempt(policy, self.marks))


@dataclass(frozen=True, slots=True)
class ServedAttempt:
    """One try with the real loop. With ``marks``, a file there tells of every try that began and that ended."""

    policy: Policy
    marks: Path | None = None

    async def __call__(self, job: Job, keep_in: Path) -> Attempted:
        _mark(self.marks, "began", job)
        photo = await asyncio.to_thread(open_photo, job.content)
        with TrajectoryWriter(keep_in) as store:
            finding = await locate(
                [photo],
                AgentSetup(
                    method=small_method(tools=("image_zoom_in_tool",)),
                    policy=self.policy,
                    toolset=Toolset([image_zoom_in_tool]),
                ),
                Resources(cast("Atlas", None)),
                store=store,
            )
        answered, ended = finding.trajectory.answered, finding.trajectory.ended
        assert answered is not None
        assert ended is not None
        failed = ended.reason == "service"
        _mark(self.marks, "ended", job)
        return Attempted(
            "failed" if failed else "answered",
            finding.answer,
            answered.by,
            ended.reason,
            ended.spent,
            ended.trouble,
            (ended.trouble or "").partition(": ")[0] if failed else None,
        )


@dataclass(frozen=True, slots=True)
class ServedReady:
    """The attempt, to be closed."""

    attempt: ServedAttempt
    closed: list[bool] = field(default_factory=list)

    async def aclose(self) -> None:
        await self.attempt.policy.aclose()
        self.closed.append(True)


def _mark(marks: Path | None, what: str, job: Job) -> None:
    if marks is not None:
        with (marks / f"{what}.txt").open("a", encoding="utf-8") as stream:
            stream.write(f"{job.id} {os.getpid()}\n")
