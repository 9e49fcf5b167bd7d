"""What a try claims that an atlas can be asked about: its country, its place, names that stand there, telephones.

A try that tells no reasons rests on everything that was read, line by line and all together.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from geosleuth.agent import Trajectory
from geosleuth.answer import Answer
from geosleuth.geo import LatLon
from geosleuth.names import country_code, fold
from geosleuth.tools.wording import one_line

from .items import Concluded, Item, Looked, answered, items_of

ClaimKind = Literal["country", "region", "place", "named", "phone", "text"]

MOST_NAMES = 3
MOST_READ = 6
"""How many names count that were read, where an answer does not say which of them it rests on."""

_MOST_LINES = 40

_QUOTED = re.compile(r'"([^"\n]{3,60})"|“([^”\n]{3,60})”|«\s*([^»\n]{3,60}?)\s*»|‘([^’\n]{3,60})’')
_PHONE = re.compile(r"(?:\+|＋|(?<!\d)00(?=[1-9]))\s?\d[\d\s().\-/]{5,18}\d")
_LEAST_LETTERS = 4


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that a try says, and the piece of the try that says it.

    ``seen`` says that it was read in the photo by a tool. What a try only writes is its own word for it: a model that
    knows a town can name its quarters without having seen any of them.
    """

    kind: ClaimKind
    words: str
    mark: str
    seen: bool = False


@dataclass(frozen=True, slots=True)
class Stand:
    """Where a try stands: its answer and what it claims along with it."""

    number: int
    answer: Answer
    claims: tuple[Claim, ...]
    mark: str

    @property
    def point(self) -> LatLon | None:
        """The answer's point."""
        return self.answer.point

    @property
    def places(self) -> bool:
        """Whether it names any place at all."""
        return self.answer.located or bool(self.answer.address)

    @property
    def country(self) -> str | None:
        """The ISO code of the country that it names."""
        return country_code(self.answer.address.country.conclusion or "")


def stands_of(tries: Sequence[Trajectory]) -> list[Stand]:
    """Where each try that answered stands, in their order.

    An answer without a word about its reasons is taken to rest on all that was read in the photo, by whichever try.
    """
    told = {number: items_of(number, one) for number, one in enumerate(tries, 1) if answered(one)}
    read = [line for items in told.values() for line in _seen(items)]
    return [_stand(number, items, read) for number, items in told.items()]


def _stand(number: int, items: Sequence[Item], read: Sequence[tuple[str, str]]) -> Stand:
    last = items[-1]
    answer = last.content.answer if isinstance(last.content, Concluded) else Answer()
    seen = _seen(items)
    told = [(text, last.mark) for text in _told(answer)]
    named = _named(answer, seen, told) if told else _read(read)
    claims = [*_levels(answer, last.mark), *named, *_phones(seen, told)]
    return Stand(number, answer, tuple(claims), last.mark)


def _seen(items: Sequence[Item]) -> list[tuple[str, str]]:
    """The lines that a try has read, each with the piece that shows it."""
    return [(line, item.mark) for item in items if isinstance(item.content, Looked) for line in _lines(item.content)]


def _levels(answer: Answer, mark: str) -> Iterator[Claim]:
    address = answer.address
    if address.country.conclusion:
        yield Claim("country", one_line(address.country.conclusion, 80), mark)
    if address.region.conclusion:
        yield Claim("region", one_line(address.region.conclusion, 80), mark)
    if address.precise.conclusion:
        yield Claim("place", one_line(address.precise.conclusion, 120), mark)


def _told(answer: Answer) -> Iterator[str]:
    for level in (answer.address.precise, answer.address.region, answer.address.country):
        yield from level.clues
    if answer.explanation:
        yield answer.explanation


def _lines(looked: Looked) -> Iterator[str]:
    data: Any = looked.observation.data
    if looked.observation.failure is None and isinstance(data, Mapping) and isinstance(data.get("lines"), list):
        for row in data["lines"]:
            if isinstance(row, Mapping) and isinstance(row.get("text"), str):
                yield row["text"]


def _named(answer: Answer, seen: Sequence[tuple[str, str]], told: Sequence[tuple[str, str]]) -> Iterator[Claim]:
    """Names that the answer rests on: what was read in the photo and stands in its address or its quotations first.

    Then what it quotes and nobody read; not its own place, which is asked about otherwise.
    """
    own = {fold(part) for part in str(answer.address).split(",")}
    words = fold(str(answer.address))
    quoted = [
        (next(group for group in match.groups() if group), mark)
        for text, mark in told
        for match in _QUOTED.finditer(text)
    ]
    read = [(line, mark) for line, mark in seen if len(fold(line)) >= _LEAST_LETTERS and fold(line) in words]
    found: dict[str, Claim] = {}
    for name, mark in [*read, *quoted]:
        line = _tidy(name)
        key = fold(line)
        where = _read_at(key, seen)
        if (where or key not in own) and _may_name(line):
            found.setdefault(key, Claim("named", line, where or mark, seen=where is not None))
    yield from sorted(found.values(), key=lambda claim: not claim.seen)[:MOST_NAMES]


def _read(lines: Sequence[tuple[str, str]]) -> Iterator[Claim]:
    """Names on lines that were read, each once, in the order of reading; and all lines as they stand."""
    found: dict[str, Claim] = {}
    for text, mark in lines:
        line = _tidy(text)
        if _may_name(line):
            found.setdefault(fold(line), Claim("named", line, mark, seen=True))
    yield from list(found.values())[:MOST_READ]
    if lines:
        whole = dict.fromkeys(one_line(text) for text, _ in lines)
        yield Claim("text", "\n".join(list(whole)[:_MOST_LINES]), lines[0][1], seen=True)


def _tidy(name: str) -> str:
    return one_line(name, 60).strip(" .,:;!?")


def _may_name(line: str) -> bool:
    """Whether a line has letters enough to be a name, and is no country's."""
    return sum(letter.isalpha() for letter in line) >= _LEAST_LETTERS and country_code(line) is None


def _read_at(name: str, seen: Sequence[tuple[str, str]]) -> str | None:
    """The piece in which a folded name was read, on one line or across several; None where it was not."""
    pieces: dict[str, list[str]] = {}
    for line, mark in seen:
        pieces.setdefault(mark, []).append(fold(line))
    return next((mark for mark, lines in pieces.items() if f" {name} " in f" {' '.join(lines)} "), None)


def _phones(seen: Sequence[tuple[str, str]], told: Sequence[tuple[str, str]]) -> Iterator[Claim]:
    """Telephone numbers with a country code, the first of them; those that were read come first."""
    for texts, was_seen in ((seen, True), (told, False)):
        for text, mark in texts:
            if (match := _PHONE.search(text)) is not None:
                yield Claim("phone", one_line(match[0], 30), mark, was_seen)
                return
