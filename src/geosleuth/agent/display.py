"""A finding on a small card for notebooks, its evidence, and the text that was read in the photos."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

from geosleuth.answer import GRANULARITIES, Answer, Granularity, coarsest
from geosleuth.answer.answer import (
    AreaKind,
    Extent,
    envelope,
    how_sure,
    iterate_named_levels,
    percent_words,
    radius_words,
)
from geosleuth.answer.answer import build_extent as extent_of_answer
from geosleuth.answer.granularity import build_withheld_note
from geosleuth.atlas.granular import get_answer_country
from geosleuth.geo import coordinates
from geosleuth.models.detective import Detective
from geosleuth.names import with_article
from geosleuth.support.text.safe import printable
from geosleuth.tools import ImageInfo, Observation

from .spoken_of import is_about
from .trajectory import Trajectory

if TYPE_CHECKING:
    from .locate import Finding

BEST = 3
# Disclaimer shown in every view of a finding.
DISCLAIMER = "A lead, not a verdict."

# Marks the part of a candidate's evidence that speaks against it: everything after this prefix.
COUNTEREVIDENCE_PREFIX = "Against: "

_WITHHELD: dict[str, Granularity] = {build_withheld_note(level): level for level in GRANULARITIES if level != "exact"}
_LONGEST_LINE = 400

MAX_BOXES = 60
_SAME_SHARE = 0.5
_FARTHEST_PX = 1e9
Box = tuple[float, float, float, float]


def best_evidence(trajectory: Trajectory, most: int | None = BEST) -> tuple[str, ...]:
    """The best pieces of evidence for the answer, the strongest first, each once.

    First what the answer itself gives for its finest level, then what it gives for the coarser ones, then what was
    noted for the candidate that became the answer. What was left out for the sake of granularity is not among
    them, nor what speaks for the country and against the place.
    """
    unique = dict.fromkeys(line.strip() for line in _evidence(trajectory))
    against = _against(trajectory)
    kept = tuple(line for line in unique if line and line not in _WITHHELD and line not in against)
    return kept if most is None else kept[:most]


def tells_evidence_alone(trajectory: Trajectory) -> bool:
    """Return whether its explanation says nothing beyond its evidence: the detective's never does."""
    return trajectory.started.method == Detective.name


def is_withheld(text: str) -> bool:
    """Return whether a text stands for another that was left out for the sake of granularity."""
    return text in _WITHHELD


def get_granularity(trajectory: Trajectory) -> Granularity:
    """Return the finest granularity a trajectory may show; ``exact`` where nothing was left out."""
    found = [_WITHHELD[text] for text in _texts(trajectory) if text in _WITHHELD]
    return coarsest(found)


def is_capped(trajectory: Trajectory) -> bool:
    """Return whether all free text was left out, as `geosleuth.agent.locate` does below ``exact``."""
    return all(text in _WITHHELD for text in _texts(trajectory) if text)


def _texts(trajectory: Trajectory) -> Iterator[str]:
    yield trajectory.started.system
    yield (trajectory.answer or Answer()).explanation or ""
    for step in trajectory.steps:
        yield step.text
        yield step.thinking
    for observation in trajectory.observations:
        yield observation.text


def _evidence(trajectory: Trajectory) -> Iterator[str]:
    answer = trajectory.answer
    if answer is None:
        return
    for _, level in iterate_named_levels(answer.address):
        yield from level.clues
    for hypothesis in trajectory.pool:
        if hypothesis.fate == "answered":
            yield from hypothesis.evidence_for


def _against(trajectory: Trajectory) -> str:
    answer = trajectory.answer or Answer()
    said = [line for item in trajectory.pool if item.fate == "answered" for line in item.evidence_against]
    said += [
        (candidate.evidence or "").partition(COUNTEREVIDENCE_PREFIX)[2]
        for candidate in answer.candidates
        if candidate.point is not None and candidate.point == answer.point
    ]
    return "\n".join(said)


def whole_country(trajectory: Trajectory, granularity: Granularity = "exact") -> str | None:
    """The code of the country that a finding comes to, with odds for all of it; None where it is a circle.

    A model's odds are for its circle, also where it names no more than the country. The detective's are for the
    country, and of a finding that was capped at the country nothing finer may be told.
    """
    capped = "country" in (granularity, get_granularity(trajectory))
    return get_answer_country(trajectory.answer or Answer()) if capped or tells_evidence_alone(trajectory) else None


def classify_area(trajectory: Trajectory, granularity: Granularity = "exact") -> AreaKind | None:
    """Return the kind of area of a finding without a point: a country or an unnamed circle; else None."""
    if whole_country(trajectory, granularity) is not None:
        return "country"
    levels = (trajectory.answer or Answer()).address
    named = levels.region.conclusion or levels.country.conclusion
    return "circle" if named and not levels.precise.conclusion else None


def classify_extent(trajectory: Trajectory, granularity: Granularity = "exact") -> Extent | None:
    """Return what a finding's point means: a country, a wide circle or the place; None without a point."""
    return extent_of_answer(trajectory.answer or Answer(), classify_area(trajectory, granularity))


def sure_line(answer: Answer, country: str | None = None) -> str:
    """Return how sure an answer is of its circle or of a whole ``country``; empty without a place."""
    if answer.point is None and not answer.address:
        return ""
    if answer.probability is None:
        within = "" if answer.radius_km is None else f", within {radius_words(answer.radius_km)} or so"
        return f"How sure was not said{within}"
    reach = "that this is the place"
    if country:
        reach = f"that it lies in {with_article(answer.address.country.conclusion or country)}"
    elif answer.radius_km is not None:
        reach = f"that it lies within {radius_words(answer.radius_km)}"
    return f"{how_sure(answer.probability).capitalize()}: {percent_words(answer.probability)} {reach}"


def notebook_card(finding: "Finding") -> str:
    """A finding as a piece of HTML with no outside needs; all its text is escaped."""
    answer = finding.whole_answer
    if answer.point is None and not answer.address:
        head, sure = "No place was found", answer.explanation or ""
    else:
        country = whole_country(finding.trajectory, finding.granularity)
        head, sure = envelope(answer.address) or "An unnamed place", sure_line(answer, country)
    whole = whole_country(finding.trajectory, finding.granularity)
    where = "" if answer.point is None or whole else coordinates(answer.point, answer.radius_km)
    evidence = "".join(
        f"<li>{_clean_text(line)}</li>" for line in best_evidence(finding.best_attempt or finding.trajectory)
    )
    why = ""
    if (
        answer.point is not None
        and not tells_evidence_alone(finding.trajectory)
        and not is_withheld(answer.explanation or "")
    ):
        why = answer.explanation or ""
    claim = "The file's own metadata claims another place." if True in finding.conflicts else ""
    doubts = "".join(f"<div><strong>{_clean_text(str(doubt))}</strong></div>" for doubt in finding.doubts)
    if where and finding.substitute_place is not None:
        where += " (the point of the place named)"
    rows = (
        f'<div style="font-size:1.25em;font-weight:600"><bdi>{_clean_text(head)}</bdi></div>',
        f"<div>{_clean_text(sure)}</div>" if sure else "",
        f"<div><code>{where}</code></div>" if where else "",
        f'<div style="margin-top:.5em">{_clean_text(why)}</div>' if why else "",
        f'<ol style="margin:.5em 0;padding-left:1.4em">{evidence}</ol>' if evidence else "",
        f"<div><strong>{claim}</strong></div>" if claim else "",
        doubts,
        f'<div style="opacity:.7">{DISCLAIMER} '
        f"Found by <bdi>{_clean_text(finding.trajectory.started.policy)}</bdi>.</div>",
    )
    style = "border:1px solid #8888;border-radius:.5em;padding:.8em 1em;max-width:44em;line-height:1.45"
    return f'<div style="{style}">{"".join(rows)}</div>'


def _clean_text(value: str) -> str:
    short = value if len(value) <= _LONGEST_LINE else value[: _LONGEST_LINE - 1] + "…"
    return escape(printable(short).encode("utf-8", "replace").decode("utf-8"))


@dataclass(frozen=True, slots=True)
class SeenLine:
    """A line of text; ``box`` is left, top, right, bottom in shares of the photo's first view.

    ``number`` is what it goes by in the report, and None where no evidence speaks of it.
    """

    text: str
    photo: int
    box: Box
    confidence: float
    number: int | None = None


def text_seen(trajectory: Trajectory, evidence: Sequence[str]) -> tuple[SeenLine, ...]:
    """Every line once, as it was read best; those that evidence speaks of are numbered in the evidence's order."""
    lines = _distinct(_collect_seen_lines(trajectory))[:MAX_BOXES]
    order: list[int] = []
    for piece in evidence:
        order += [at for at, line in enumerate(lines) if at not in order and is_about(piece, line.text)]
    numbers = {at: number for number, at in enumerate(order, 1)}
    numbered = [replace(line, number=numbers.get(at)) for at, line in enumerate(lines)]
    return tuple(sorted(numbered, key=lambda line: line.number or math.inf))


def _collect_seen_lines(trajectory: Trajectory) -> Iterator[SeenLine]:
    images = {image.handle: image for image in trajectory.images}
    firsts = first_views(trajectory.task.images)
    for observation in trajectory.observations:
        yield from extract_lines(observation, images, firsts)


def first_views(images: Iterable[ImageInfo]) -> dict[int, ImageInfo]:
    """The first view of each photo of a task, by the photo's number."""
    firsts: dict[int, ImageInfo] = {}
    for image in images:
        firsts.setdefault(image.photo, image)
    return firsts


def extract_lines(
    observation: Observation, images: Mapping[str, ImageInfo], firsts: Mapping[int, ImageInfo]
) -> Iterator[SeenLine]:
    """The lines of text in one outcome, where there are any.

    Args:
        observation: the outcome.
        images: every picture of the run so far, by its handle.
        firsts: the photos' first views, see `first_views`.
    """
    data = observation.data
    if observation.failure is not None or not isinstance(data, dict):
        return
    image = images.get(str(data.get("image")))
    first = None if image is None else firsts.get(image.photo)
    rows = data.get("lines")
    if image is None or first is None or not isinstance(rows, list):
        return
    for row in rows:
        line = _build_seen_line(row, image, first) if isinstance(row, dict) else None
        if line is not None:
            yield line


def _build_seen_line(row: dict[str, Any], image: ImageInfo, first: ImageInfo) -> SeenLine | None:
    text, box = row.get("text"), _parse_box(row.get("bbox_px"))
    if not isinstance(text, str) or not text.strip() or box is None:
        return None
    share = convert_box(box, image, first)
    confidence = row.get("confidence")
    sure = float(confidence) if isinstance(confidence, int | float) and _is_number(confidence) else 0.0
    return None if share is None else SeenLine(text.strip(), first.photo, share, sure)


def convert_box(box: Sequence[float], image: ImageInfo, first: ImageInfo) -> Box | None:
    """A box in a picture's pixels, in shares of the photo's first view; None where it lies outside of that."""
    share: list[float] = []
    inner, outer = image.box_in_original, first.box_in_original
    if min(*image.size, outer[2] - outer[0], outer[3] - outer[1]) <= 0:
        return None
    for number, side in enumerate(box):
        axis = number % 2
        original = inner[axis] + side * (inner[axis + 2] - inner[axis]) / image.size[axis]
        share.append(min(1.0, max(0.0, (original - outer[axis]) / (outer[axis + 2] - outer[axis]))))
    if share[0] >= share[2] or share[1] >= share[3]:
        return None
    return share[0], share[1], share[2], share[3]


def _parse_box(value: Any) -> Box | None:
    if not isinstance(value, list | tuple) or len(value) != 4:
        return None
    if not all(_is_number(side) for side in value):
        return None
    return float(value[0]), float(value[1]), float(value[2]), float(value[3])


def _is_number(value: object) -> bool:
    """Return whether a value can be a coordinate on a picture: a finite number."""
    return isinstance(value, int | float) and -_FARTHEST_PX < value < _FARTHEST_PX


def _distinct(lines: Iterator[SeenLine]) -> list[SeenLine]:
    """Second readings of the same spot stand in for the first where they are surer."""
    kept: list[SeenLine] = []
    for line in lines:
        at = next((at for at, one in enumerate(kept) if _same_spot(one, line)), None)
        if at is None:
            kept.append(line)
        elif (line.confidence, len(line.text)) > (kept[at].confidence, len(kept[at].text)):
            kept[at] = line
    return kept


def _same_spot(line: SeenLine, other: SeenLine) -> bool:
    if line.photo != other.photo:
        return False
    left, top = max(line.box[0], other.box[0]), max(line.box[1], other.box[1])
    right, bottom = min(line.box[2], other.box[2]), min(line.box[3], other.box[3])
    common = max(0.0, right - left) * max(0.0, bottom - top)
    return common > _SAME_SHARE * min(_compute_area(line.box), _compute_area(other.box))


def _compute_area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])
