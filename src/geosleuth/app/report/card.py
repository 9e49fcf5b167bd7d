"""A finding on a card for the terminal: readable at 80 columns, and without colour."""

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.constrain import Constrain
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from geosleuth.agent import Trajectory
from geosleuth.agent.display import BEST
from geosleuth.agent.locating import Finding
from geosleuth.answer.wording import percent_words, radius_words
from geosleuth.geo import coordinates, distance_km
from geosleuth.policies.detective.advice import WITH_A_MODEL
from geosleuth.text import one_line
from geosleuth.text.numbers import distance, plural

from .braille import frame_of, region_lines, region_width_km, world_lines
from .digest import Digest, Rival, as_finding, digest_of
from .facts import ESTIMATE
from .team import team_lines

COLUMNS = 80
_WORLD, _REGION, _BETWEEN = 41, 36, 2
_SHOWN = 5
_BAR = 10
_VOICES = 10
_WHY_CHARS = 520


def card(found: Finding | Trajectory, *, maps: bool = True, with_a_model: str | None = None) -> RenderableType:
    """The finding for people: place, odds in words, a small map, the best evidence, candidates, what it hangs on.

    Args:
        found: the finding, capped already where less than everything may be told.
        maps: draw the world and the surroundings; left out anyway where the terminal can't write braille.
        with_a_model: the command that asks a model within reach, for a finding without a place.
    """
    finding = as_finding(found)
    digest = digest_of(finding)
    parts: list[RenderableType] = [Text(one_line(digest.place), style="bold")]
    if digest.sure:
        parts.append(Text(f"{digest.sure}{_where(digest)}."))
    if digest.verdict:
        parts.append(Text(digest.verdict, style="italic"))
    if not digest.exact:
        parts.append(Text(f"Told no finer than the {digest.granularity}."))
    if maps:
        parts.append(_Maps(digest))
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(style="dim", width=13)
    table.add_column(overflow="fold", ratio=1)
    for label, rows in _rows(finding, digest, with_a_model or WITH_A_MODEL):
        for number, row in enumerate(rows):
            table.add_row("" if number else label, row)
    parts.append(Padding(table, (1, 0, 0, 0)))
    return Constrain(Group(*parts), COLUMNS)


def _where(digest: Digest) -> str:
    """The point, as the line that says how sure it is goes on; a country is where it is."""
    point, radius_km = digest.answer.point, digest.answer.radius_km
    if point is None or digest.country:
        return ""
    return f"{' of' if radius_km is not None else ','} {coordinates(point, radius_km)}"


def _rows(finding: Finding, digest: Digest, with_a_model: str) -> Iterator[tuple[str, list[RenderableType]]]:
    account = digest.account
    yield "why", [Text(_short(digest.own_words))] if digest.own_words else []
    pieces = digest.evidence[:BEST] if digest.located else ()
    yield "evidence", [_hanging(f"{number}.", Text(one_line(piece))) for number, piece in enumerate(pieces, 1)]
    label = "could also be" if digest.located else "weakly for"
    yield label, [_rival(one) for one in digest.others[:_SHOWN]]
    for label, words, opening in (
        ("hangs on", account.hangs_on, "It hangs on "),
        ("against", account.against, "Against it speaks "),
        ("would help", account.would_help.replace(WITH_A_MODEL, with_a_model), "What would help: "),
    ):
        yield label, [Text(one_line(words.removeprefix(opening)))] if words else []
    yield "ruled out", [Text(one_line(one.place)) for one in digest.dropped[:_SHOWN]]
    said = list(team_lines(finding))
    if len(said) > _VOICES:
        said = [*said[: _VOICES - 1], f"… and {len(said) - _VOICES + 1} more (--json has all)"]
    yield "who said what", [Text(one_line(line)) for line in said]
    yield "file claims", [Text(line) for line in _claims(finding, digest)]
    yield "found by", [Text(_made(digest))]


def _rival(one: Rival) -> RenderableType:
    name = one_line(one.name) or ("unnamed" if one.point is None else coordinates(one.point))
    if one.probability is None:
        return _hanging(one.letter, Text(name))
    bar = "#" * round(_BAR * one.probability)
    return _hanging(f"{one.letter}  {percent_words(one.probability):>5} {bar:<{_BAR}}", Text(name))


def _hanging(mark: str, words: Text) -> RenderableType:
    """A mark with its words beside it, so that further lines begin where the first one does."""
    pair = Table.grid(padding=(0, 1, 0, 0))
    pair.add_column(no_wrap=True)
    pair.add_column(overflow="fold", ratio=1)
    pair.add_row(Text(mark), words)
    return pair


def _short(words: str) -> str:
    """As much of an explanation as a card has room for, ending with a whole word."""
    line = one_line(" ".join(words.split()))
    if len(line) <= _WHY_CHARS:
        return line
    return f"{line[:_WHY_CHARS].rsplit(' ', 1)[0].rstrip(' ,;:.')} … (all of it: --out report.html)"


def _claims(finding: Finding, digest: Digest) -> Iterator[str]:
    for number, (claims, conflict) in enumerate(zip(finding.claims, finding.conflicts, strict=True), 1):
        if claims.point is None:
            continue
        which = f"photo {number}: " if len(finding.claims) > 1 else ""
        told = f"{which}{coordinates(claims.point)}" if digest.exact else f"{which}a place"
        if claims.estimated:
            yield f"{told}, {ESTIMATE}"
            continue
        if digest.answer.point is not None and conflict is not None:
            away = f", {distance(distance_km(claims.point, digest.answer.point))} away" if digest.exact else ""
            told += f"{away}: {'CONTRADICTS' if conflict else 'agrees with'} the finding"
        yield f"{told}. A claim of its metadata, not evidence."


def _made(digest: Digest) -> str:
    started, spent = digest.trajectory.started, digest.trajectory.spent
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

    def __init__(self, digest: Digest) -> None:
        self._digest = digest

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        marks = [(one.letter, one.point) for one in self._digest.pinned[: _SHOWN + 1] if one.point is not None]
        if not marks or options.max_width < _WORLD or not options.encoding.lower().startswith("utf"):
            return
        lines, legend = world_lines(marks, _WORLD), self._legend(len(marks))
        point, radius_km = self._digest.answer.point, self._digest.answer.radius_km or 0.0
        if point is not None and options.max_width >= _WORLD + _BETWEEN + _REGION:
            outline = self._digest.outline
            if outline is not None:
                point, radius_km = frame_of(outline.box, _REGION)
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
        if not self._digest.located:
            return "The letters are weak candidates, not findings."
        if self._digest.answer.point is None:
            return "The letters are the other candidates."
        if self._digest.country:
            return (
                "A, filled in, is the finding, the others are below." if count > 1 else "A, filled in, is the finding."
            )
        return "A is the finding, the others are below." if count > 1 else "A is the finding."
