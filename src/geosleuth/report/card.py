"""A finding on a card for the terminal, with a map in braille dots; readable at 80 columns and without colour."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from math import cos, radians

import numpy as np
import numpy.typing as npt
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.constrain import Constrain
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from geosleuth.agent import Trajectory
from geosleuth.agent.display import BEST
from geosleuth.agent.locate import Finding
from geosleuth.answer.answer import percent_words, radius_words
from geosleuth.geo import Box, FloatArray, LatLon, coordinates
from geosleuth.models.detective.answering import WITH_A_MODEL
from geosleuth.support.text.numbers import plural
from geosleuth.support.text.safe import one_line

from .digest import ESTIMATE, FindingDigest, RivalPlace, as_finding, away, build_digest, sentences, sidecar_lines

Mask = npt.NDArray[np.bool_]
Frame = tuple[float, float, float]

# What each dot of a cell adds to U+2800, row by row.
_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
_NORTH, _SOUTH = 78.0, -56.0
_MIN_HALF_DEG = 0.25
_USUAL_HALF_DEG = 4.0
_FEWEST_DOTS = 40
_MAX_HALF_DEG = 35.0
_KM_PER_DEGREE = 111.2
_HALVES_A_RADIUS = 1.5
_MARGIN = 1.1

Marks = Sequence[tuple[str, LatLon]]
"""Letters and where they stand; the first lies on top."""

COLUMNS = 80
_WORLD, _REGION, _BETWEEN = 41, 36, 2
_SHOWN = 5
_BAR = 10
_VOICES = 10
_WHY_CHARS = 520


def braille(dots: Mask) -> list[str]:
    """Return dots as text: two across and four down per character; blank ones are spaces."""
    rows, columns = dots.shape[0] // 4, dots.shape[1] // 2
    cells = dots[: 4 * rows, : 2 * columns].reshape(rows, 4, columns, 2)
    codes = (cells * _BITS[None, :, None, :]).sum(axis=(1, 3))
    return ["".join(chr(0x2800 + code) if code else " " for code in line) for line in codes.tolist()]


def world_lines(marks: Marks, columns: int = 40, rows: int = 10) -> list[str]:
    """Return the land of the world without the poles, and letters on it."""
    from geosleuth.atlas.borders import Borders

    lats = _middles(_NORTH, _SOUTH, 4 * rows)
    lons = _middles(-180.0, 180.0, 2 * columns)
    grid = np.meshgrid(lats, lons, indexing="ij")
    lines = braille(Borders.load().is_land(*grid))
    spots = ((mark, (_NORTH - at.lat) / (_NORTH - _SOUTH), (at.lon + 180) / 360) for mark, at in marks)
    return _place_letters(lines, spots)


def region_lines(
    centre: LatLon,
    marks: Marks,
    *,
    radius_km: float = 0.0,
    columns: int = 36,
    rows: int = 10,
    country: str | None = None,
) -> list[str]:
    """Return coasts and borders around a place, with letters on them; wider if the radius is large.

    Where nothing of them would be seen it is wider too: a blank map says nothing. A ``country`` is filled in.
    """
    (half, lat, half_lon), edges = _draw_region(centre, radius_km, columns, rows, country)
    turned = ((mark, (at.lon - centre.lon + 540) % 360 - 180, at.lat) for mark, at in marks)
    spots = (
        (mark, (lat + half - north) / (2 * half), (east + half_lon) / (2 * half_lon)) for mark, east, north in turned
    )
    return _place_letters(braille(edges), spots)


def region_width_km(
    centre: LatLon, radius_km: float, *, columns: int = 36, rows: int = 10, country: str | None = None
) -> float:
    """Return how much `region_lines` shows from its left to its right edge, to two figures."""
    (_, lat, half_lon), _ = _draw_region(centre, radius_km, columns, rows, country)
    return float(f"{2 * half_lon * cos(radians(lat)) * _KM_PER_DEGREE:.2g}")


def compute_frame(box: Box, columns: int = 36, rows: int = 10) -> tuple[LatLon, float]:
    """Return the centre and the radius with which `region_lines` shows all of a box."""
    centre = box.centre
    high = (box.north - box.south) / 2
    wide = box.width_deg / 2 * cos(radians(centre.lat)) * (rows * 4) / (columns * 2)
    return centre, _MARGIN * max(high, wide) * _KM_PER_DEGREE / _HALVES_A_RADIUS


@lru_cache(maxsize=4)
def _draw_region(centre: LatLon, radius_km: float, columns: int, rows: int, country: str | None) -> tuple[Frame, Mask]:
    """Return the smallest frame that suits the radius and has something to show, and what it shows."""
    half = min(max(_MIN_HALF_DEG, _HALVES_A_RADIUS * radius_km / _KM_PER_DEGREE), _MAX_HALF_DEG)
    while True:
        frame = _frame(centre, half, columns, rows)
        edges = _edges(centre, frame, columns, rows, country)
        if half >= _USUAL_HALF_DEG or np.count_nonzero(edges) >= _FEWEST_DOTS:
            return frame, edges
        half = min(2 * half, _USUAL_HALF_DEG)


def _edges(centre: LatLon, frame: Frame, columns: int, rows: int, country: str | None) -> Mask:
    from geosleuth.atlas.borders import Borders

    half, lat, half_lon = frame
    # One more row and column, so that dots can be compared with their neighbours.
    step, step_lon = 2 * half / (4 * rows), 2 * half_lon / (2 * columns)
    lats = lat + half - step * (np.arange(4 * rows + 1) + 0.5)
    lons = (centre.lon - half_lon + step_lon * (np.arange(2 * columns + 1) + 0.5) + 540) % 360 - 180
    codes = Borders.load().countries(*np.meshgrid(np.clip(lats, -90, 90), lons, indexing="ij"), waters=False)
    here = codes[:-1, :-1]
    return np.asarray((here != codes[1:, :-1]) | (here != codes[:-1, 1:]) | ((here == country) & (here != "")))


def _frame(centre: LatLon, half: float, columns: int, rows: int) -> Frame:
    """Return half the height in degrees, the latitude of the middle, half the width in degrees."""
    lat = min(max(centre.lat, half - 85), 85 - half)
    return half, lat, min(179.0, half * columns * 2 / (rows * 4) / max(0.2, cos(radians(lat))))


def _middles(first: float, last: float, count: int) -> FloatArray:
    step = (last - first) / count
    return np.asarray(first + step * (np.arange(count) + 0.5), dtype=np.float64)


def _place_letters(lines: list[str], spots: Iterable[tuple[str, float, float]]) -> list[str]:
    """Put letters where they belong, with a blank on both sides; what lies outside is left out."""
    drawn = [list(line) for line in lines]
    placed: list[tuple[int, int]] = []
    for mark, down, across in spots:
        row, column = int(down * len(drawn)), int(across * len(drawn[0]))
        if not (0 <= down < 1 and 0 <= across < 1) or any(
            row == other and abs(column - taken) < 2 for other, taken in placed
        ):
            continue
        for beside in (column - 1, column + 1):
            if 0 <= beside < len(drawn[row]):
                drawn[row][beside] = " "
        drawn[row][column] = mark
        placed.append((row, column))
    return ["".join(line) for line in drawn]


def card(
    found: Finding | Trajectory, *, maps: bool = True, with_a_model: str | None = None, would_help: str = ""
) -> RenderableType:
    """Return the finding for people: place, odds, a small map, the best evidence, candidates, what it depends on.

    Args:
        found: the finding, already capped to its granularity.
        maps: draw the world and the surroundings; left out anyway where the terminal can't write braille.
        with_a_model: the command that asks a model within reach, for a finding without a place.
        would_help: what would narrow it down, for a finding that does not say so itself.
    """
    finding = as_finding(found)
    digest = build_digest(finding)
    if not digest.account.would_help:
        digest = replace(digest, account=replace(digest.account, would_help=would_help))
    parts: list[RenderableType] = [Text(one_line(digest.place), style="bold")]
    if digest.sure:
        parts.append(Text(f"{digest.sure}{_where(digest)}."))
    if digest.assumed:
        parts.append(Text(one_line(digest.assumed)))
    if digest.verdict:
        parts.append(Text(digest.verdict, style="italic"))
    if not digest.exact:
        parts.append(Text(f"Told no finer than the {digest.granularity}."))
    # Of what is no finding a map would show leads as if they were places.
    if maps and digest.located:
        parts.append(_Maps(digest))
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(style="dim", width=13)
    table.add_column(overflow="fold", ratio=1)
    for label, rows in _build_card_rows(finding, digest, with_a_model or WITH_A_MODEL):
        for number, row in enumerate(rows):
            table.add_row("" if number else label, row)
    parts.append(Padding(table, (1, 0, 0, 0)))
    return Constrain(Group(*parts), COLUMNS)


def _where(digest: FindingDigest) -> str:
    point, radius_km = digest.answer.point, digest.answer.radius_km
    # The odds of a circle are odds of nothing without its middle.
    if point is None or (digest.wide and digest.country):
        return ""
    return f"{' of' if radius_km is not None else ','} {coordinates(point, radius_km)}"


def _build_card_rows(
    finding: Finding, digest: FindingDigest, with_a_model: str
) -> Iterator[tuple[str, list[RenderableType]]]:
    account = digest.account
    yield "why", [Text(_short(digest.own_words))] if digest.own_words else []
    pieces = digest.evidence[:BEST] if digest.located else ()
    yield "evidence", [_hanging(f"{number}.", Text(one_line(piece))) for number, piece in enumerate(pieces, 1)]
    label = "could also be" if digest.located else "weakly for"
    yield label, [_rival(other) for other in digest.others[:_SHOWN]]
    for label, words, opening in (
        ("hangs on", account.hangs_on, "It hangs on "),
        ("against", account.against, "Against it speaks "),
        ("would help", account.would_help.replace(WITH_A_MODEL, with_a_model), "What would help: "),
    ):
        yield label, [Text(one_line(sentence)) for sentence in sentences(words.removeprefix(opening))]
    gone = (*(item.place for item in digest.dropped[:_SHOWN]), *(f"{text} (by a person)" for text in digest.rejections))
    yield "ruled out", [Text(one_line(item)) for item in gone]
    # Imported late: it loads the code that draws and teaches teams, and most runs have none.
    from geosleuth.report.team_section import team_lines

    said = list(team_lines(finding))
    if len(said) > _VOICES:
        said = [*said[: _VOICES - 1], f"… and {len(said) - _VOICES + 1} more (--json has all)"]
    yield "who said what", [Text(one_line(line)) for line in said]
    yield "file claims", [Text(line) for line in _claims(finding, digest)]
    yield "found by", [Text(_describe_run(digest))]


def _rival(place: RivalPlace) -> RenderableType:
    name = one_line(place.name) or ("unnamed" if place.point is None else coordinates(place.point))
    if place.probability is None:
        return _hanging(place.letter, Text(name))
    bar = "#" * round(_BAR * place.probability)
    return _hanging(f"{place.letter}  {percent_words(place.probability):>5} {bar:<{_BAR}}", Text(name))


def _hanging(mark: str, words: Text) -> RenderableType:
    """Return a mark with its words beside it, so that further lines begin where the first one does."""
    pair = Table.grid(padding=(0, 1, 0, 0))
    pair.add_column(no_wrap=True)
    pair.add_column(overflow="fold", ratio=1)
    pair.add_row(Text(mark), words)
    return pair


def _short(words: str) -> str:
    line = one_line(" ".join(words.split()))
    if len(line) <= _WHY_CHARS:
        return line
    return f"{line[:_WHY_CHARS].rsplit(' ', 1)[0].rstrip(' ,;:.')} … (all of it: --out report.html)"


def _claims(finding: Finding, digest: FindingDigest) -> Iterator[str]:
    for number, (claims, conflict) in enumerate(zip(finding.claims, finding.conflicts, strict=True), 1):
        which = f"photo {number}: " if len(finding.claims) > 1 else ""
        yield from (f"{which}{line}" for line in sidecar_lines(claims, digest))
        if claims.point is None:
            continue
        claim = f"{which}{coordinates(claims.point)}" if digest.exact else f"{which}a place"
        if claims.estimated:
            yield f"{claim}, {ESTIMATE}"
            continue
        if digest.answer.point is not None and conflict is not None:
            claim += f"{away(digest, claims.point)}: {'CONTRADICTS' if conflict else 'agrees with'} the finding"
        yield f"{claim}. A claim of its metadata, not evidence."


def _describe_run(digest: FindingDigest) -> str:
    started, spent = digest.trajectory.started, digest.spent
    usage = spent.usage
    failed = f" ({spent.failed_calls} failed)" if spent.failed_calls else ""
    tokens = usage.input_tokens + usage.output_tokens
    parts = [
        f"{one_line(started.policy)}, method {one_line(started.method)}",
        plural(spent.turns, "turn", "turns"),
        plural(spent.calls, "tool call", "tool calls") + failed,
        *([plural(tokens, "token", "tokens")] if tokens else []),
        f"{spent.seconds:.1f} s",
    ]
    if usage.cost_usd is None:
        parts.append("price not known")
    elif usage.cost_usd:
        parts.append(f"{usage.cost_usd:.4f} USD")
    return ", ".join(parts)


class _Maps:
    """The world and, beside it, the surroundings; as much of it as the terminal has room and letters for."""

    def __init__(self, digest: FindingDigest) -> None:
        self._digest = digest

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        marks = [
            (candidate.letter, candidate.point)
            for candidate in self._digest.map_candidates[: _SHOWN + 1]
            if candidate.point is not None
        ]
        if not marks or options.max_width < _WORLD or not options.encoding.lower().startswith("utf"):
            return
        lines, legend = world_lines(marks, _WORLD), self._legend(len(marks))
        point, radius_km = self._digest.answer.point, self._digest.answer.radius_km or 0.0
        if point is not None and options.max_width >= _WORLD + _BETWEEN + _REGION:
            outline = self._digest.outline
            if outline is not None:
                point, radius_km = compute_frame(outline.box, _REGION)
            around = region_lines(point, marks, radius_km=radius_km, columns=_REGION, country=self._digest.country)
            lines = [f"{one}{' ' * _BETWEEN}{other}" for one, other in zip(lines, around, strict=True)]
            across = radius_words(region_width_km(point, radius_km, columns=_REGION, country=self._digest.country))
            legend = f"{legend} Left: the world. Right: {across} across."
        letters = "".join(mark for mark, _ in marks)
        yield Text("")
        for line in lines:
            text = Text(line.rstrip(), style="dim", no_wrap=True)
            text.highlight_regex(f"[{letters}]", "not dim bold red")
            yield text
        yield Text(legend, style="dim")

    def _legend(self, count: int) -> str:
        if self._digest.answer.point is None:
            return "The letters are the other candidates."
        if self._digest.country:
            return (
                "A, filled in, is the finding, the others are below." if count > 1 else "A, filled in, is the finding."
            )
        return "A is the finding, the others are below." if count > 1 else "A is the finding."
