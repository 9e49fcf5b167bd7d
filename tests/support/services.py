"""Photos, recordings and short words for tests of the service; everything else in them is real."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from PIL import Image, ImageDraw

from geosleuth.agent import (
    Answered,
    Body,
    Budget,
    Ended,
    Event,
    Prompted,
    Said,
    Spent,
    Started,
    Trajectory,
    write_trajectory,
)
from geosleuth.answer import parse_lenient
from geosleuth.models import Prompt, Step
from geosleuth.server import CaseService, RunRow, ServiceLimits, StreamEvent
from geosleuth.tools import ToolCall
from tries import TASK

T = TypeVar("T")

ANSWER = {
    "lat": 43.7354,
    "lon": 7.4211,
    "country": {"conclusion": "Monaco"},
    "precise": {"conclusion": "Rue Grimaldi, Monaco"},
    "probability": 0.7,
    "radius_km": 2.0,
    "explanation": "The street sign names it.",
}


def photo_bytes(colour: int = 140, size: tuple[int, int] = (240, 160)) -> bytes:
    """A small photo of a sign on a wall."""
    image = Image.new("RGB", size, (214, 196, 160))
    ImageDraw.Draw(image).rectangle((40, 30, 140, 90), fill=(30, 60, colour))
    stream = io.BytesIO()
    image.save(stream, "JPEG")
    return stream.getvalue()


async def pieces(data: bytes, size: int = 64 * 1024) -> AsyncIterator[bytes]:
    """A file as it comes in."""
    for at in range(0, len(data), size):
        yield data[at : at + size]


def recording(folder: Path, looks: int = 2, **answer: Any) -> str:
    """A recorded run that zooms a few times and answers; the model's name for it."""
    bodies: list[Body] = [
        Started(TASK, "default", "recorded", ("image_zoom_in_tool",), Budget(turns=500), "words"),
        Prompted(Prompt("Where?", ("image-1",))),
    ]
    for turn in range(1, looks + 1):
        call = ToolCall(f"c{turn}", "image_zoom_in_tool", {"bbox_2d": [10 * turn, 10, 10 * turn + 60, 80]})
        bodies.append(Said(turn, Step("", f"I look at part {turn}.", (call,), finish="calls")))
    reply = json.dumps({**ANSWER, **answer})
    bodies += [
        Said(looks + 1, Step(reply)),
        Answered(parse_lenient(reply)),
        Ended("answered", Spent(turns=looks + 1)),
    ]
    path = folder / f"recording-{looks}.jsonl"
    if not path.exists():
        write_trajectory(path, Trajectory(tuple(Event(at, float(at), body) for at, body in enumerate(bodies))))
    return f"replay:{path}"


def open_service(
    folder: Path, work: Callable[[CaseService], Awaitable[T]], *, workers: int = 1, limits: ServiceLimits | None = None
) -> T:
    """What comes of some work at a service that is opened for it and closed after it."""

    async def opened() -> T:
        async with await CaseService.open(folder, workers=workers, limits=limits) as service:
            return await work(service)

    return asyncio.run(opened())


async def case_with_photo(service: CaseService, title: str = "A case", data: bytes | None = None) -> str:
    """The id of a new case with one photo in it."""
    case = await service.new_case(title)
    await service.add_photo(case.id, "wall.jpg", pieces(photo_bytes() if data is None else data))
    return case.id


async def all_told(service: CaseService, run_id: str, after: int = -1) -> list[StreamEvent]:
    """Everything that is told of a run until it is over."""
    return [told async for told in service.watch(run_id, after=after)]


async def ended(service: CaseService, run_id: str) -> RunRow:
    """The run once it is over."""
    await all_told(service, run_id)
    return await service.run(run_id)


def everything_in(folder: Path) -> bytes:
    """Every byte of every file in a folder."""
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())
