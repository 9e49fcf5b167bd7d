"""A try of the factory on the machinery of benchmark runs: one trajectory, and beside it its pictures and its verdict.

Everything that it writes hangs on the settings and on what it was given, so that a run that was killed and taken up
again holds the same bytes as one that was not.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from geosleuth.agent import Spent, Trajectory, write_trajectory
from geosleuth.answer import Answer
from geosleuth.bench.run import Attempted, Job
from geosleuth.errors import BadInput
from geosleuth.files import write_bytes_atomically, write_text_atomically
from geosleuth.photo import Album, encode

from .model import Maker, Worked
from .timeless import id_of, timeless

META, PHOTO, FIRST = "meta.json", "photo.jpg", "image-1.jpg"
_JPEG_QUALITY = 88


@dataclass(frozen=True, slots=True)
class FactoryAttempt:
    """Makes one try; ``settings`` are all that decides what comes of it."""

    maker: Maker
    settings: Mapping[str, Any] = field(repr=False)

    async def __call__(self, job: Job, keep_in: Path) -> Attempted:
        """Make a trajectory, judge it, keep it; pictures are kept where it is worth keeping.

        Raises:
            UserError: the run can't go on.
        """
        try:
            worked = await self.maker(job.content)
        except BadInput as error:
            return Attempted("failed", Answer(), "nobody", "error", Spent(), str(error))
        trajectory = timeless(worked.finding.trajectory, id_of(self.settings, job.id))
        await asyncio.to_thread(_keep, worked, trajectory, keep_in)
        return _attempted(trajectory)


@dataclass(frozen=True, slots=True)
class FactoryReady:
    """An attempt, and the maker that must be closed after it."""

    attempt: FactoryAttempt

    async def aclose(self) -> None:
        """Let go of models and connections."""
        await self.attempt.maker.aclose()


def beside(trajectory: Path, what: str) -> Path:
    """A file of a try beside its trajectory."""
    return trajectory.with_name(f"{trajectory.stem}.{what}")


def _keep(worked: Worked, trajectory: Trajectory, path: Path) -> None:
    """The trajectory last: a try without it never was."""
    album = worked.finding.album
    if worked.verdict.kept and album is not None:
        shown = pictures(trajectory, album, worked.photo)
        for handle, content in shown.items():
            write_bytes_atomically(beside(path, f"{handle}.jpg"), content)
        if worked.photo not in shown.values():
            write_bytes_atomically(beside(path, PHOTO), worked.photo)
    write_text_atomically(
        beside(path, META), json.dumps(_meta(worked, trajectory), indent=1, ensure_ascii=False) + "\n"
    )
    write_trajectory(path, trajectory)


def pictures(trajectory: Trajectory, album: Album, photo: bytes) -> dict[str, bytes]:
    """Every picture of a run as it was shown; a photo that was shown whole as the file that it is."""
    found: dict[str, bytes] = {}
    for image in trajectory.images:
        whole = image.photo == 1 and image.box_in_original == (0, 0, *image.size)
        found[image.handle] = photo if whole else encode(album[image.handle], quality=_JPEG_QUALITY)
    return found


def _meta(worked: Worked, trajectory: Trajectory) -> dict[str, Any]:
    truth, verdict = worked.truth, worked.verdict
    return {
        "scene": worked.scene,
        "split": worked.split,
        "kept": verdict.kept,
        "reasons": list(verdict.reasons),
        "detail": verdict.detail,
        "error_km": verdict.error_km,
        "tools": [one.name for one in trajectory.observations],
        "truth": None if truth is None else {**asdict(truth), "point": [truth.point.lat, truth.point.lon]},
        **worked.meta,
    }


def _attempted(trajectory: Trajectory) -> Attempted:
    answered, ended = trajectory.answered, trajectory.ended
    reason = ended.reason if ended else "error"
    trouble = ended.trouble if ended else "broken off"
    is_broken = reason in ("service", "cancelled", "error")
    return Attempted(
        outcome="failed" if is_broken else "answered",
        answer=trajectory.answer or Answer(),
        by=answered.by if answered else "nobody",
        reason=reason,
        spent=ended.spent if ended else Spent(),
        trouble=trouble,
        host=trouble.partition(": ")[0] if reason == "service" and trouble else None,
    )
