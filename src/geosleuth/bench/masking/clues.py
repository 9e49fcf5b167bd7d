"""Which parts of a photo a run built its answer on, as its trajectory tells."""

from collections.abc import Iterable, Iterator, Mapping

from geosleuth.agent import Trajectory
from geosleuth.agent.display import best_evidence
from geosleuth.agent.seen import first_views, shares_of, text_seen
from geosleuth.bench.sets import Box
from geosleuth.photo.panorama import boxes_in_panorama
from geosleuth.tools import ImageInfo

Edges = tuple[float, float, float, float]

LARGEST_SHARE = 0.5
"""A cut that shows more of the photo than this points at nothing in it."""

_INSIDE = 0.9


def clue_boxes(trajectory: Trajectory) -> tuple[Box, ...]:
    """What a run zoomed into, and the lines of text that its evidence speaks of, in shares of the original photo.

    Of cuts that lie in each other the innermost counts: it is what was looked for. A text counts where the answer's
    clues, the evidence noted for it or its explanation quote it; text that was read and led nowhere does not. Parts of
    maps and other pictures are no parts of the photo. A panorama's views are followed back into the panorama.
    """
    firsts = first_views(trajectory.task.images)
    return tuple(dict.fromkeys(_in_original([*_cuts(trajectory, firsts), *_lines(trajectory)], len(firsts))))


def _cuts(trajectory: Trajectory, firsts: Mapping[int, ImageInfo]) -> Iterator[tuple[int, Edges]]:
    found: list[tuple[int, Edges]] = []
    for image in (made for observation in trajectory.observations for made in observation.images):
        first = firsts.get(image.photo)
        edges = None if first is None else shares_of((0, 0, *image.size), image, first)
        if edges is not None and _area(edges) <= LARGEST_SHARE:
            found.append((image.photo, edges))
    distinct = list(dict.fromkeys(found))
    for photo, edges in distinct:
        if not any(other != edges and number == photo and _holds(edges, other) for number, other in distinct):
            yield photo, edges


def _holds(outer: Edges, inner: Edges) -> bool:
    """Whether a cut lies in another; of two that are nearly the same, neither gives way to the other."""
    common = (
        max(outer[0], inner[0]), max(outer[1], inner[1]), min(outer[2], inner[2]), min(outer[3], inner[3])
    )  # fmt: skip
    if common[0] >= common[2] or common[1] >= common[3]:
        return False
    return _area(common) >= _INSIDE * _area(inner) and _area(inner) < _INSIDE * _area(outer)


def _lines(trajectory: Trajectory) -> Iterator[tuple[int, Edges]]:
    evidence = list(best_evidence(trajectory, None))
    if trajectory.answer is not None and trajectory.answer.explanation:
        evidence.append(trajectory.answer.explanation)
    for line in text_seen(trajectory, evidence):
        if line.number is not None:
            yield line.photo, line.box


def _in_original(parts: Iterable[tuple[int, Edges]], views: int) -> Iterator[Box]:
    for photo, edges in parts:
        # A run of a data set is about one photo: where it has several, they are the views of a panorama.
        whole = [edges] if views == 1 else boxes_in_panorama(edges, (photo - 1) * 360.0 / views)
        yield from (Box("clue", *one) for one in whole)


def _area(edges: Edges) -> float:
    return (edges[2] - edges[0]) * (edges[3] - edges[1])
