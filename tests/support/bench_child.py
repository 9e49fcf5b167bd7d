"""A run over small made photos, answered by a script in one turn: for tests in this process, and as one that is killed.

As a program: ``bench_child.py PHOTOS RUN [OPTIONS as JSON]``. It says on stdout what it is at, one JSON object a line.
"""

import asyncio
import hashlib
import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from PIL import Image

from geosleuth.agent import Spent, TrajectoryWriter
from geosleuth.agent.locate import locate
from geosleuth.agent.setup import AgentSetup, Resources
from geosleuth.answer import Answer
from geosleuth.geo import LatLon
from geosleuth.lab.bench.run import (
    Attempt,
    Attempted,
    DataInfo,
    Ending,
    Job,
    LocalWorker,
    Manifest,
    RunFolder,
    RunLimits,
    RunProgress,
    TryRecord,
    run_set,
)
from geosleuth.lab.bench.run.engine import RunListeners, RunRules
from geosleuth.lab.bench.sets import Card, DataSet, FilePicture, Item
from geosleuth.lab.score import Truth
from geosleuth.models import Step, Usage
from geosleuth.models.protocol import ReplayPolicy
from geosleuth.photo import open_photo
from geosleuth.support.errors import BadInput, UserError
from geosleuth.tools import Toolset
from small_runs import small_method

if TYPE_CHECKING:
    from geosleuth.atlas import Atlas

SETTINGS = {"model": "replay", "method": "small"}
_METHOD = small_method()
_NO_TOOLS = Toolset(())


def make_photos(folder: Path, count: int, size: tuple[int, int] = (48, 32)) -> Path:
    """A folder of small JPEG files, all of them different."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        colour = (number % 251, number // 251 % 251, 90)
        Image.new("RGB", size, colour).save(folder / f"paris-{number:05}.jpg", quality=60)
    return folder


def true_place(id: str) -> LatLon:  # noqa: A002
    """Where a made photo was taken."""
    digest = hashlib.sha256(id.encode()).digest()
    return LatLon(digest[0] / 255 * 160 - 80, digest[1] / 255 * 340 - 170)


def scripted_reply(id: str) -> str:  # noqa: A002
    """What the script says about a photo: often near, sometimes far, at times that it can't tell."""
    place = true_place(id)
    kind = hashlib.sha256(id.encode()).digest()[2] % 10
    if kind == 0:
        return json.dumps({"country": "France", "explanation": "no clue \u2028 at all"})
    off = 0.001 if kind < 5 else 1.5
    return json.dumps({"lat": round(place.lat + off, 6), "lon": round(place.lon, 6), "country": "Élysée"})


def data_of(photos: Path, count: int | None = None) -> DataSet:
    """The photos of a folder with made-up truths."""
    files = sorted(photos.glob("*.jpg"))[:count]

    def stream() -> Iterator[Item]:
        for number, file in enumerate(files):
            yield Item(file.stem, FilePicture(file), Truth(true_place(file.stem)), {"tier": f"t{number % 3}"})

    card = Card(
        name="made", title="Made", photos=None, licence="none", home="", get="", layout="", thresholds_km=(1.0, 25.0)
    )
    return DataSet(card, photos, stream)


def manifest_of(data: DataSet, *, settings: dict[str, Any] | None = None, **changes: Any) -> Manifest:
    """What a run over such photos is made of."""
    digest = hashlib.sha256()
    count = 0
    for item in data:
        digest.update(f"{item.id} {item.picture.size_bytes()}\n".encode())
        count += 1
    info = DataInfo(data.card.name, count, digest.hexdigest())
    return Manifest(data=info, settings=SETTINGS if settings is None else settings, seed=0, **changes)


def usage() -> Usage:
    """What each answer costs."""
    return Usage(100, 20, 0, 0.01)


async def replayed(job: Job, keep_in: Path) -> Attempted:
    """One try through the agent's own loop, with the script's answer as a recording."""
    try:
        photo = await asyncio.to_thread(open_photo, job.content)
    except BadInput as error:
        return Attempted("failed", Answer(), "nobody", "error", Spent(), str(error))
    policy = ReplayPolicy([Step(scripted_reply(job.id), usage=usage(), model="scripted-1")])
    with TrajectoryWriter(keep_in) as store:
        finding = await locate(
            [photo],
            AgentSetup(method=_METHOD, policy=policy, toolset=_NO_TOOLS),
            Resources(cast("Atlas", None)),
            store=store,
        )
    ended, answered = finding.trajectory.ended, finding.trajectory.answered
    assert ended is not None
    assert answered is not None
    return Attempted("answered", finding.answer, answered.by, ended.reason, finding.trajectory.spent)


@dataclass
class Options:
    """How the program runs; also what tests in this process give."""

    at_once: int = 8
    count: int | None = None
    retry: Any = None
    limits: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] | None = None
    hold: bool = False
    wait_s: float = 0.0


def work(
    photos: Path,
    run: Path,
    options: Options | None = None,
    *,
    attempt: Attempt = replayed,
    watch: Callable[[RunProgress], None] = lambda _progress: None,
    ended: Callable[[TryRecord], None] = lambda _record: None,
    say: Callable[[str], None] = lambda _words: None,
) -> Ending:
    """Begin or continue a run and see it through."""
    options = options or Options()
    data = data_of(photos, options.count)

    async def through() -> Ending:
        with RunFolder.begin(run, manifest_of(data, settings=options.settings), say) as folder:
            return await run_set(
                data,
                folder,
                LocalWorker(attempt, folder),
                at_once=options.at_once,
                rules=RunRules(limits=RunLimits(**options.limits), retry=options.retry),
                listeners=RunListeners(watch=watch, ended=ended),
            )

    return asyncio.run(through())


def tell(**told: object) -> None:
    """One line on stdout."""
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def main(photos: Path, run: Path, options: Options) -> int:
    """Work on a run, say each photo that is finished, and how it ended."""

    async def slow(job: Job, keep_in: Path) -> Attempted:
        await asyncio.sleep(options.wait_s)
        return await replayed(job, keep_in)

    # As the command has it: Ctrl-C calls the work off instead of tearing it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if options.hold:
        with RunFolder.begin(run, manifest_of(data_of(photos, options.count), settings=options.settings)):
            tell(holds=True)
            sys.stdin.read()
        return 0
    tell(begun=True)
    try:
        ending = work(
            photos,
            run,
            options,
            attempt=slow if options.wait_s else replayed,
            ended=lambda record: tell(**{"ended" if record.outcome == "answered" else "cut_off": record.image}),
            say=lambda words: tell(said=words),
        )
    except UserError as error:
        tell(error=str(error))
        return 2
    except KeyboardInterrupt:
        tell(stopped=True)
        return 130
    tell(why=ending.why, words=ending.words)
    return 0


if __name__ == "__main__":
    given = json.loads(sys.argv[3]) if len(sys.argv) > 3 else {}
    with suppress(BrokenPipeError):
        sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), Options(**given)))
