"""Answers in words put on the map for scorers, evaluation and rewards, by the one rule of `geosleuth.atlas.placing`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from geosleuth.answer import Answer
from geosleuth.answer.answer import format_words
from geosleuth.atlas import Atlas, OfflineAtlas
from geosleuth.atlas.placing import Placer
from geosleuth.geo import LatLon
from geosleuth.tools.surfaces import Background


@dataclass(frozen=True, slots=True)
class Placed:
    """Place named by the words of an answer: a point inside it, and its level, "address" to "country"."""

    point: LatLon
    level: str


PlaceText = Callable[[str], Placed | None]


def place_nothing(_text: str) -> None:
    """Place no text: only an answer's own point counts."""


def create_placer(open_atlas: Callable[[], Atlas] = OfflineAtlas) -> PlaceText:
    """Return a function that places texts and may be called from any thread.

    The atlas is opened at the first text. Each text is looked up once; no more than its point and level are kept.

    The function raises ServiceFault if a map service failed; the text is looked up again at the next call.
    """
    background, known, atlas = Background(), dict[str, Placed | None](), list[Atlas]()

    async def look_up(text: str) -> Placed | None:
        if not atlas:
            atlas.append(open_atlas())
        found = await Placer(atlas[0]).place(text)
        return None if found is None else Placed(found.point, found.level)

    def place(text: str) -> Placed | None:
        if text not in known:
            known[text] = background.run(look_up(text))
        return known[text]

    return place


def find_measured_point(answer: Answer, place: PlaceText) -> tuple[LatLon | None, str | None]:
    """Return the point that an answer is measured from, and the level of its place if only words give it."""
    if answer.point is not None or not (text := format_words(answer.address)):
        return answer.point, None
    found = place(text)
    return (found.point, found.level) if found is not None else (None, None)


def format_placed(placed: Mapping[str, int]) -> str:
    """Return how many answers were placed at which level: "3 placed by their words (2 by town, 1 by region)"."""
    levels = ", ".join(f"{count:,} by {level}" for level, count in sorted(placed.items(), key=lambda item: -item[1]))
    return f"{sum(placed.values()):,} placed by their words ({levels})"
