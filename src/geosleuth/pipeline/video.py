"""One clip, one result: the places that it shows, each located from its own frames, and which second told what."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from geosleuth.agent import Sink
from geosleuth.answer import Answer
from geosleuth.atlas import OfflineAtlas
from geosleuth.geo import SAME_SPOT_KM, distance_km
from geosleuth.models.detective import evidence_line
from geosleuth.names import fold
from geosleuth.photo.video import Clip, FrameOfClip, ShownPlace, clock
from geosleuth.support.text.safe import one_line
from geosleuth.tools.surfaces import NUMBER, TEXT, WHOLE, many, maybe, record

from .plan import Plan
from .result import LocateResult, check_claim, rebuild_reasoning, result_schema
from .run import NoAnswer, Say, run_plan

NEAR_KM = 1.0
# Maximum radius of findings that can show two scenes to be one place.
MAX_RADIUS_KM = 50.0

_LINES = 6


@dataclass(frozen=True, slots=True)
class FrameTold:
    """A frame of a place. ``photo`` is its number in the finding, from 1; None where another scene's frames found it.

    ``told`` are the clues that the finding rests on and that were seen in this frame.
    """

    frame: FrameOfClip = field(repr=False)
    photo: int | None
    told: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The second, and what it told or at least says, on one line."""
        reads = (
            "; ".join(self.told) or ", ".join(f'"{line}"' for line in self.frame.reads) or "no text that can be read"
        )
        return f"{clock(self.frame.seconds)}  {reads}"


@dataclass(frozen=True, slots=True)
class VideoPlace:
    """A place of a clip: when it is shown, in which frames, and what was found."""

    spans: tuple[tuple[float, float], ...]
    frames: tuple[FrameTold, ...]
    result: LocateResult = field(repr=False)

    @property
    def when(self) -> str:
        """The times at which it is shown, for people."""
        return ", ".join(f"{clock(start)}–{clock(end)}" for start, end in self.spans)

    def to_dict(self) -> dict[str, Any]:
        """Return its part of the document; below ``exact`` nothing that was read is in it."""
        exact = self.result.granularity == "exact"
        return {
            "spans": [list(span) for span in self.spans],
            "frames": [
                {
                    "seconds": frame.frame.seconds,
                    "sha256": sha256(frame.frame.jpeg).hexdigest(),
                    "photo": frame.photo,
                    "reads": list(frame.frame.reads) if exact else [],
                    "told": list(frame.told) if exact else [],
                }
                for frame in self.frames
            ],
            "finding": self.result.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class VideoResult:
    """Result of a clip."""

    clip: Clip
    places: tuple[VideoPlace, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the document of ``geosleuth locate clip.mp4 --json``; `video_schema` describes it."""
        clip = self.clip
        return {
            "video": {
                "sha256": clip.sha256,
                "bytes": clip.file_bytes,
                "format": clip.format,
                "codec": clip.codec,
                "seconds": clip.seconds,
                "width": clip.size_px[0],
                "height": clip.size_px[1],
                "scenes": len(clip.scenes),
                "notes": list(clip.notes),
            },
            "places": [place.to_dict() for place in self.places],
        }


def video_schema() -> dict[str, Any]:
    """Return the JSON schema of a clip's document."""
    video = {
        "sha256": TEXT,
        "bytes": WHOLE,
        "format": TEXT,
        "codec": TEXT,
        "seconds": NUMBER,
        "width": WHOLE,
        "height": WHOLE,
        "scenes": WHOLE,
        "notes": many(TEXT),
    }
    frame = {"seconds": NUMBER, "sha256": TEXT, "photo": maybe(WHOLE), "reads": many(TEXT), "told": many(TEXT)}
    place = {"spans": many(many(NUMBER)), "frames": many(record(frame)), "finding": result_schema()}
    return record({"video": record(video), "places": many(record(place))})


async def locate_places(
    plan: Plan,
    shown: Sequence[ShownPlace],
    atlas: OfflineAtlas,
    *,
    keep_in: Callable[[int], Path | None] = lambda _number: None,
    sinks: Iterable[Sink] = (),
    say: Say | None = None,
) -> list[VideoPlace]:
    """Locate each place of a clip from its own frames; those that turn out to be one place become one.

    Args:
        plan: what was asked for, for every place.
        shown: the places, by what they look like.
        atlas: the offline atlas.
        keep_in: the trajectory's file for the place of a number, from 1.
        sinks: who gets the events as they happen, uncapped.
        say: gets a line as each place begins.

    Raises:
        BadInput: a frame can't be opened, or a file can't be written.
    """
    found = []
    for number, item in enumerate(shown, 1):
        if say is not None:
            seconds = ", ".join(clock(frame.seconds) for frame in item.frames)
            say(f"place {number} of {len(shown)}: frames at {seconds}")
        photos = [frame.open_photo() for frame in item.frames]
        try:
            finding = await run_plan(
                plan,
                photos,
                atlas,
                similar=plan.searches.find_similar(photos),
                keep_in=keep_in(number),
                sinks=sinks,
                say=say,
            )
        except NoAnswer as none:
            finding = none.finding
        result = LocateResult.from_finding(finding, await check_claim(finding, plan, atlas))
        frames = tuple(FrameTold(frame, at, _list_clues(result, plan, at)) for at, frame in enumerate(item.frames, 1))
        found.append(VideoPlace(item.spans, frames, result))
    return merge_places(found)


def _list_clues(result: LocateResult, plan: Plan, photo: int) -> tuple[str, ...]:
    """Return the clues that were seen in one of the photos."""
    reasoning = rebuild_reasoning(result, plan)
    if reasoning is None:
        return ()
    here = {image.handle for image in result.trajectory.images if image.photo == photo}
    clues = (clue for clue in reasoning.full_posterior.clues if clue.where is not None and clue.where.image in here)
    return tuple(dict.fromkeys(one_line(evidence_line(clue)) for clue in clues))[:_LINES]


def merge_places(places: Sequence[VideoPlace]) -> list[VideoPlace]:
    """Put places together that were located as one; the finer finding stands for both."""
    kept: list[VideoPlace] = []
    for place in places:
        at = next(
            (at for at, one in enumerate(kept) if is_same(one.result.whole_answer, place.result.whole_answer)), None
        )
        if at is None:
            kept.append(place)
            continue
        better, other = sorted((kept[at], place), key=lambda item: compute_rank(item.result.whole_answer))
        frames = (*better.frames, *(replace(frame, photo=None) for frame in other.frames))
        kept[at] = VideoPlace(
            tuple(sorted({*better.spans, *other.spans})),
            tuple(sorted(frames, key=lambda item: item.frame.seconds)),
            better.result,
        )
    return kept


def is_same(item: Answer, other: Answer) -> bool:
    """Return whether two answers are the same place, as far as they can tell.

    Two that name different streets or shops and do not lie at one spot are two, however near.
    """
    if item.point is None or other.point is None:
        return False
    if _are_distinct_names(item, other) and distance_km(item.point, other.point) > SAME_SPOT_KM:
        return False
    radii = [answer.radius_km if answer.radius_km is not None else MAX_RADIUS_KM for answer in (item, other)]
    return max(radii) <= MAX_RADIUS_KM and distance_km(item.point, other.point) <= max(NEAR_KM, min(radii))


def _are_distinct_names(item: Answer, other: Answer) -> bool:
    """Return whether both are as fine as a street or shop, and neither's own name is in the other's address."""
    fine = all(answer.radius_km is not None and answer.radius_km <= NEAR_KM for answer in (item, other))
    parts = [[fold(part) for part in (answer.address.precise.conclusion or "").split(",")] for answer in (item, other)]
    # A settlement stands behind the name of a street or shop; alone it names none.
    return (
        fine and all(len(names) > 1 for names in parts) and parts[0][0] not in parts[1] and parts[1][0] not in parts[0]
    )


def compute_rank(answer: Answer) -> tuple[float, float]:
    """Return what two answers about one place are ordered by, the finer and surer one first."""
    return (answer.radius_km if answer.radius_km is not None else MAX_RADIUS_KM), -(answer.probability or 0.0)
