"""The tools that only the server has, ``open_photo`` and ``locate``, and the photos that clients have opened."""

import asyncio
import binascii
import io
import secrets
from base64 import b64decode
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from geosleuth.agent import Event, Said, ToolObserved
from geosleuth.agent.locate import EventBlanker, Finding
from geosleuth.answer.granularity import Granularity, coarsest
from geosleuth.atlas import OfflineAtlas
from geosleuth.models.detective import Detective
from geosleuth.models.protocol import ReplayPolicy
from geosleuth.photo import OpenedPhoto, PhotoLimits
from geosleuth.photo import open_photo as open_file
from geosleuth.pipeline.area import FILE_ALTERNATIVE, names_file
from geosleuth.pipeline.plan import Plan, make_plan
from geosleuth.pipeline.request import LocateRequest
from geosleuth.pipeline.result import check_claim, format_claim_check, result_document, result_schema
from geosleuth.pipeline.run import run_plan
from geosleuth.report.chain import step_line
from geosleuth.support.errors import BadInput, GeosleuthError, UserError
from geosleuth.tools import Case, Output, tool
from geosleuth.tools.surfaces import TEXT, WHOLE, envelope, many, record

if TYPE_CHECKING:
    from .service import McpService

Notify = Callable[[float, str], Awaitable[None]]
"""Tells the client how far a call is, in words."""

# Page on which hosts that display apps draw the finding of `locate`.
MAP_PAGE = "ui://geosleuth/map.html"
_RUNS_AT_ONCE = 2
_LAST_WORDS_S = 2.0
# Maximum size of a photo sent inside a call.
MAX_DATA_BYTES = 32 * 1024 * 1024
_DATA_PIXELS = 100_000_000
_WAYS = "give path or data, one of the two"
PHOTOS_KEPT = 32
# Maximum pixels of photos kept open: at four bytes per pixel, 1.6 GB.
MAX_PIXELS_KEPT = 400_000_000
# Number of crops of one photo that keep their handles.
MAX_VIEWS_KEPT = 1000


@dataclass(frozen=True, slots=True)
class Visit:
    """Context of a tool of the server's own, in place of a case."""

    service: "McpService"
    notify: Notify


@tool("open_photo", renames={"file": "path", "filename": "path", "photo": "path", "base64": "data", "image": "data"})
async def open_photo(visit: Visit, path: str = "", data: str = "") -> Output:
    """Open a photo and get a handle for it, which the other tools take as photo.

    Give path or data, one of the two. The picture is shown as image-1; a panorama is shown as several views. What the
    file's metadata claims is not read out.

    Args:
        path: where the file lies on the server's machine, in a folder that the server may read.
        data: the file itself in base64: JPEG, PNG, WebP, TIFF or HEIC.
    """
    return await visit.service.open(path, data)


@tool("locate", renames={"photo": "photos", "image": "photos", "images": "photos", "area": "within"})
async def locate(
    visit: Visit,
    photos: list[str],
    within: str = "",
    hint: str = "",
    taken: str = "",
    seen: str = "",
    drives_on: Literal["left", "right"] | None = None,
    check: str = "",
    granularity: Granularity | None = None,
    force_answer: bool = False,  # noqa: FBT001, FBT002  (a tool's arguments come by name)
) -> Output:
    """Find out where photos were taken: place, coordinates, radius, probability, and the evidence for it.

    One long call: it reads text, looks names up and weighs clues, and tells after each turn what it does. The result is
    a lead with its uncertainty, not a verdict.

    Args:
        photos: handles from open_photo; several must show one place.
        within: where it must lie: a country, a region, "S,W,N,E" or "LAT,LON,KM" in degrees.
        hint: what else is known about the photo.
        taken: when it was taken, such as 2026-07-14T15:30+02:00.
        seen: what you see, in words with commas between: "yellow centre line, red soil".
        drives_on: the side of the road that traffic keeps to.
        check: a claimed place, "LAT,LON": say what speaks for it and against it.
        granularity: tell nothing finer than this; the server may have a limit of its own.
        force_answer: give a best guess in any case, with its honest probability.
    """
    return await visit.service.locate(
        visit.notify,
        photos,
        within=within.strip() or None,
        hint=hint.strip() or None,
        taken=taken.strip() or None,
        seen=seen.strip() or None,
        drives_on=drives_on,
        check=check.strip() or None,
        granularity=granularity,
        force_answer=force_answer,
    )


OWN_TOOLS = (open_photo, locate)


@dataclass(slots=True)
class Locating:
    """Runs that the clients of one server ask for, a few at once."""

    plan: Plan
    request: LocateRequest
    atlas: OfflineAtlas
    held: AsyncExitStack
    _at_once: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_RUNS_AT_ONCE))
    _loading: asyncio.Lock = field(default_factory=asyncio.Lock)
    _loaded: bool = False

    async def run(self, notify: "Notify", photos: Sequence[OpenedPhoto], **words: Any) -> Output:
        """Locate photos of one place.

        Raises:
            UserError: it can't be done as asked.
            GeosleuthError: the model failed.
        """
        plan = await asyncio.to_thread(self._plan, **words)
        async with self._at_once:
            await self._load_model()
            async with _Publisher(notify, plan.granularity) as publisher:
                finding = await run_plan(
                    plan,
                    photos,
                    self.atlas,
                    similar=plan.searches.find_similar(photos),
                    sinks=(publisher.hear,),
                )
            checked = await check_claim(finding, plan, self.atlas)
        ended = finding.trajectory.ended
        if ended is not None and ended.reason == "service":
            reason = ended.trouble if finding.granularity == "exact" else None
            raise GeosleuthError(reason or "the model failed")
        data = result_document(finding, checked)
        text = await asyncio.to_thread(_card, finding)
        if checked is not None:
            text = "\n".join([*format_claim_check(checked), "", text])
        return Output(text, data, sources=_sources(finding))

    def _plan(self, *, granularity: Granularity | None, within: str | None, **words: Any) -> Plan:
        """The server's own plan with a client's words in it: what is known of the photo, and nothing else."""
        if within is not None and names_file(within):
            raise BadInput("within is the name of a file; write a country, a region, S,W,N,E or LAT,LON,KM in degrees")
        # No finer than the server allows.
        told_as = coarsest((self.plan.granularity, granularity or "exact"))
        asked = replace(self.request, within=within, granularity=told_as, **words)
        try:
            plan = make_plan(asked, [])
        except UserError as error:
            raise BadInput(_as_argument(str(error))) from error
        own = isinstance(plan.policy, Detective | ReplayPolicy)
        base = self.plan
        return replace(
            plan,
            policy=plan.policy if own else base.policy,
            method=plan.method if own else base.method,
            toolset=plan.toolset if own else base.toolset,
            wire=plan.wire if own else base.wire,
            several=base.several,
            searches=base.searches,
        )

    async def _load_model(self) -> None:
        """Load the model, once, when it is first asked."""
        async with self._loading:
            if not self._loaded:
                self.plan = await self.plan.load(self.held)
                self._loaded = True


class _Publisher:
    """Sends the client one line a turn about a run, without ever delaying the run."""

    def __init__(self, notify: "Notify", granularity: Granularity) -> None:
        """Publish nothing finer than allowed."""
        self._notify, self._blank = notify, EventBlanker(granularity)
        self._lines: asyncio.Queue[tuple[int, str] | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    def hear(self, event: Event) -> None:
        """Take an event."""
        event = self._blank(event)
        if isinstance(event.body, Said):
            self._lines.put_nowait((event.body.turn, step_line(event) or f"turn {event.body.turn}"))

    async def __aenter__(self) -> "_Publisher":
        self._task = asyncio.create_task(self._forward())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._lines.put_nowait(None)
        if self._task is None:
            return
        try:
            if kind is None:
                await asyncio.wait({self._task}, timeout=_LAST_WORDS_S)
        finally:
            # A client that takes no words, or has left, is no reason for the run to fail.
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _forward(self) -> None:
        while (line := await self._lines.get()) is not None:
            await self._notify(*line)


def _as_argument(message: str) -> str:
    """Return a message about an option for a client that gave an argument and no files."""
    message = message.replace(FILE_ALTERNATIVE, "")
    for name in ("within", "taken", "seen", "drives-on", "check"):
        message = message.replace(f"--{name}", name.replace("-", "_"))
    return message


def _sources(finding: Finding) -> tuple[str, ...]:
    observed = (event.body.observation for event in finding.trajectory.events if isinstance(event.body, ToolObserved))
    return tuple(dict.fromkeys(source for seen in observed for source in seen.sources))


def _card(finding: Finding) -> str:
    from rich.console import Console

    from geosleuth.report.card import card

    console = Console(file=io.StringIO(), width=80, markup=False, emoji=False, highlight=False, no_color=True)
    with console.capture() as captured:
        console.print(card(finding, maps=False))
    return "\n".join(line.rstrip() for line in captured.get().splitlines()).strip()


def build_open_photo_schema() -> dict[str, Any]:
    """Return the output schema of ``open_photo``."""
    return envelope(
        record(
            {
                "photo": {**TEXT, "description": "the handle that other tools take as photo"},
                "width": WHOLE,
                "height": WHOLE,
                "kind": TEXT,
                "notes": many(TEXT),
                "not_a_photo": {**TEXT, "description": "what it looks like, where it is no photograph"},
            },
            optional=("not_a_photo",),
        )
    )


def build_locate_schema() -> dict[str, Any]:
    """Return the output schema of ``locate``: the document of ``geosleuth locate --json``."""
    return envelope(result_schema())


@dataclass(frozen=True, slots=True)
class PhotoSource:
    """Allowed sources of photos.

    ``folders`` are those that paths must lie in; with ``anywhere`` any file that the server's user can
    read.
    """

    folders: tuple[Path, ...] = ()
    anywhere: bool = False

    async def open(self, path: str, data: str) -> OpenedPhoto:
        """Open a photo.

        Raises:
            BadInput: not a photo, or it may not be read.
        """
        if bool(path.strip()) == bool(data.strip()):
            raise BadInput(f"there is {'both a path and data' if path.strip() else 'no photo'}; {_WAYS}")
        if path.strip():
            return await asyncio.to_thread(open_file, self._resolve_allowed_file(path.strip()))
        return await asyncio.to_thread(_open_data, data)

    def _resolve_allowed_file(self, path: str) -> Path:
        if not self.folders and not self.anywhere:
            raise BadInput("this server reads no files; send the photo itself, in base64, as data")
        try:
            wanted = Path(path).expanduser()
            if self.anywhere and not self.folders:
                return wanted
            for file in _readings(wanted, self.folders):
                if any(file.is_relative_to(folder) for folder in self.folders):
                    return file
        except (OSError, RuntimeError, ValueError) as error:
            raise BadInput(f"{path[:200]!r} is no usable path; {_WAYS}") from error
        raise BadInput(f"{path[:200]!r} is in none of the folders that this server may read (--photos); {_WAYS}")


def _readings(path: Path, folders: Sequence[Path]) -> list[Path]:
    """Return the files a path may mean, links resolved; a relative path is tried in each folder in order."""
    if path.is_absolute():
        return [path.resolve()]
    inside = [(folder / path).resolve() for folder in folders]
    return sorted(inside, key=lambda file: not file.is_file())


def _open_data(data: str) -> OpenedPhoto:
    if data.lstrip().startswith("data:"):
        data = data.partition(",")[2]
    if len(data) * 3 // 4 > MAX_DATA_BYTES:
        raise BadInput(
            f"data is larger than the {MAX_DATA_BYTES // 1024**2} MiB allowed; give a smaller copy of the photo"
        )
    try:
        content = b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadInput("data is not base64; encode the bytes of a JPEG, PNG, WebP, TIFF or HEIC file") from error
    return open_file(content, PhotoLimits(max_bytes=MAX_DATA_BYTES, max_pixels=_DATA_PIXELS))


@dataclass(frozen=True, slots=True, eq=False)
class Shelved:
    """A picture that tools can look at: a client's photo, or a map that a tool drew, which was never opened."""

    handle: str
    case: Case
    opened: OpenedPhoto | None = None
    notes: tuple[str, ...] = ()

    @property
    def pixels(self) -> int:
        """Return the size in pixels; a panorama's cuts count as much as itself."""
        if self.opened is None:
            return sum(width * height for width, height in self._sizes())
        width, height = self.opened.photo.size
        return width * height * (2 if self.notes else 1)

    def _sizes(self) -> list[tuple[int, int]]:
        return [self.case.album[handle].size for handle in self.case.album.handles[:1]]


def new_handle() -> str:
    """Return a handle that can't be guessed."""
    return f"photo-{secrets.token_hex(8)}"


@dataclass(slots=True)
class PhotoShelf:
    """The newest photos; the least recently used are dropped first."""

    photos_kept: int = PHOTOS_KEPT
    pixels_kept: int = MAX_PIXELS_KEPT
    _kept: OrderedDict[str, Shelved] = field(default_factory=OrderedDict)

    def put(self, shelved: Shelved) -> list[Shelved]:
        """Keep one, however large it is alone; those that had to make room."""
        self._kept[shelved.handle] = shelved
        gone: list[Shelved] = []
        pixels = sum(item.pixels for item in self._kept.values())
        while len(self._kept) > 1 and (len(self._kept) > self.photos_kept or pixels > self.pixels_kept):
            gone.append(self._kept.popitem(last=False)[1])
            pixels -= gone[-1].pixels
        return gone

    def clear(self) -> list[Shelved]:
        """Take all of them down."""
        gone = list(self._kept.values())
        self._kept.clear()
        return gone

    def get(self, handle: str) -> Shelved:
        """The photo of that handle.

        Raises:
            BadInput: it does not exist, or no longer.
        """
        name = handle.strip()
        found = self._kept.get(name)
        if found is None:
            raise BadInput(
                f"there is no photo {name[:60]!r} here, or no longer: the newest {self.photos_kept} are kept; "
                "open it with open_photo, and use the handle that comes back"
            )
        self._kept.move_to_end(name)
        if len(found.case.album.handles) >= MAX_VIEWS_KEPT:
            raise BadInput(f"{name} has {MAX_VIEWS_KEPT} cuts already; open it again with open_photo")
        return found
