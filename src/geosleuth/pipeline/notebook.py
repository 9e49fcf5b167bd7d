"""A result in a notebook: the photo with its boxes, a map, and the evidence, as HTML with no outside needs."""

import asyncio
import io
import math
from base64 import b64encode
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, TypeVar

from geosleuth.agent.display import best_evidence, notebook_card, text_seen, whole_country
from geosleuth.agent.locate import Finding
from geosleuth.answer.answer import is_the_answer
from geosleuth.answer.granularity import Granularity
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.protocol import Marker
from geosleuth.geo import LatLon
from geosleuth.support.errors import GeosleuthError
from geosleuth.support.files import write_text_atomically

_T = TypeVar("_T")
_PHOTO_PX, _MAP_PX = 880, (440, 300)
_CLOSEST: dict[Granularity, float] = {"country": 4.5, "region": 7.0, "city": 10.9, "street": 15.4, "exact": 16.0}
_EARTH_ROUND_M, _TILE_PX, _UNSTATED_KM = 40_075_016.686, 256, 5.0
_FURTHER = (0.0, 3.0, 6.0)


def run_apart(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine to its end, inside a running event loop too: a notebook's own can't be entered twice."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def result_html(finding: Finding) -> str:
    """Return card, photo and map, beside each other where there is room."""
    parts = [notebook_card(finding), *_photos(finding, 1), *run_apart(_maps(finding, _FURTHER[:1]))]
    return f'<div style="display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start">{"".join(parts)}</div>'


@dataclass(frozen=True, slots=True)
class Exploration:
    """A finding at large: every photo with its boxes, maps from close up to far away, all evidence."""

    html: str

    def _repr_html_(self) -> str:
        return self.html

    def save(self, path: str | Path) -> Path:
        """Write it as a page that opens from disk, and return where it is.

        Raises:
            BadInput: it can't be written there.
        """
        head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>geosleuth</title>'
        write_text_atomically(Path(path), f'{head}<body style="font-family:sans-serif">{self.html}</body></html>\n')
        return Path(path)


def explore(finding: Finding) -> Exploration:
    """Return a finding to look at closely."""
    run = finding.best_attempt or finding.trajectory
    evidence = "".join(f"<li>{escape(line)}</li>" for line in best_evidence(run, None))
    rivals = "".join(
        f"<tr><td>{escape(candidate.name or '')}</td>"
        f"<td>{'' if candidate.probability is None else f'{candidate.probability:.0%}'}</td>"
        f"<td>{escape(candidate.evidence or '')}</td></tr>"
        for candidate in finding.answer.candidates
        if not is_the_answer(candidate, finding.whole_answer)
    )
    parts = (
        result_html(finding),
        *_photos(finding, None),
        *run_apart(_maps(finding, _FURTHER[1:])),
        f"<h4>Evidence</h4><ol>{evidence}</ol>" if evidence else "",
        f"<h4>Other candidates</h4><table>{rivals}</table>" if rivals else "",
    )
    return Exploration(f"<div>{''.join(parts)}</div>")


def _photos(finding: Finding, most: int | None) -> Iterator[str]:
    """Yield photos with a box around each line of text; none where places may not be told exactly."""
    album = finding.album
    if album is None or finding.granularity != "exact":
        return
    run = finding.best_attempt or finding.trajectory
    seen = text_seen(run, best_evidence(run))
    firsts = [image for image in run.task.images if image.handle in album.handles]
    for number, image in enumerate(firsts[:most], 1):
        picture = album[image.handle].image.copy()
        picture.thumbnail((_PHOTO_PX, _PHOTO_PX))
        kept = io.BytesIO()
        picture.save(kept, "JPEG", quality=80)
        boxes = "".join(
            f'<rect x="{100 * left:.2f}%" y="{100 * top:.2f}%" width="{100 * (right - left):.2f}%" '
            f'height="{100 * (bottom - top):.2f}%"><title>{escape(line.text)}</title></rect>'
            for line in seen
            for left, top, right, bottom in [line.box]
            if line.photo == number
        )
        width, height = picture.size
        yield (
            f'<svg viewBox="0 0 {width} {height}" style="width:440px;max-width:100%" role="img" '
            'aria-label="The photo, with a box around each text that was read" fill="none" stroke="#ff9d00" '
            f'stroke-width="3"><image width="{width}" height="{height}" '
            f'href="data:image/jpeg;base64,{b64encode(kept.getvalue()).decode()}"/>{boxes}</svg>'
        )


async def _maps(finding: Finding, further: tuple[float, ...]) -> list[str]:
    """Return maps around the answer's point, each so much further away than the closest."""
    answer, atlas, drawn = finding.whole_answer, OfflineAtlas(), []
    point = answer.point
    if point is None:
        return []
    # The point of a whole country is its capital's or its middle: where the map looks, and no place to mark.
    markers = [] if whole_country(finding.trajectory, finding.granularity) else [Marker(point)]
    closest = _zoom(point, answer.radius_km or _UNSTATED_KM, finding.granularity)
    for zoom in sorted({max(2.0, closest - step) for step in further}, reverse=True):
        try:
            picture = await atlas.map(point, zoom=zoom, size=_MAP_PX, markers=markers)
        except GeosleuthError:
            continue
        drawn.append(
            f'<img alt="A map around the finding" style="max-width:100%" width="{_MAP_PX[0]}" height="{_MAP_PX[1]}" '
            f'src="data:image/png;base64,{b64encode(picture.png).decode()}" title="{escape(picture.attribution)}">'
        )
    return drawn


def _zoom(point: LatLon, radius_km: float, granularity: Granularity) -> float:
    """Return the zoom at which the circle takes up about half of the map's height, no closer than allowed."""
    around_m = _EARTH_ROUND_M * math.cos(math.radians(min(abs(point.lat), 85.0)))
    zoom = math.log2(around_m * _MAP_PX[1] / (_TILE_PX * 4000 * radius_km))
    return round(min(max(zoom, 1.0), _CLOSEST[granularity]), 1)
