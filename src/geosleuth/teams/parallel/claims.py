"""Claims of a try that an atlas can check, and the result of each check.

A try that gives no reasons rests on everything that was read, line by line and all together.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from geosleuth.agent import Trajectory
from geosleuth.answer import Answer
from geosleuth.geo import LatLon, distance_km, is_valid
from geosleuth.models.detective.map_questions import Call
from geosleuth.models.detective.notebook import FinishedCall, Notebook
from geosleuth.names import country_code, fold, same_region
from geosleuth.tools.viewer import length, one_line

from .chains import ChainItem, Concluded, Looked, has_answer, list_items

ClaimKind = Literal["country", "region", "place", "named", "phone", "text"]

MAX_NAMES = 3
# Maximum names read that count if an answer does not say which of them it rests on.
MAX_READ = 6

_MAX_LINES = 40

_QUOTED = re.compile(r'"([^"\n]{3,60})"|“([^”\n]{3,60})”|«\s*([^»\n]{3,60}?)\s*»|‘([^’\n]{3,60})’')
_PHONE = re.compile(r"(?:\+|＋|(?<!\d)00(?=[1-9]))\s?\d[\d\s().\-/]{5,18}\d")
_MIN_LETTERS = 4

Verdict = Literal["holds", "fails", "open"]
"""The atlas bears it out; it has it otherwise; it knows too little to say."""
# Tools that the embedded verifier uses; it works with any subset of them.
TOOLS = ("reverse_geocode", "maps_geocode", "poi_keyword_search", "country_facts", "text_clues")
# A place lies at a point if it is within this distance, or within the answer's own radius.
NEAR_KM = 5.0
NAMED_NEAR_KM = 2.0
AREA_KM = 25.0
# How likely all that was read must make an area, to speak for a point in it, and a country, not to speak against.
LIKELY, UNLIKELY = 0.2, 0.02
_SURE = 0.8


@dataclass(frozen=True, slots=True)
class AttemptClaim:
    """One thing that a try says, and the piece of the try that says it.

    ``seen`` says that it was read in the photo by a tool. What a try only writes is its own word for it: a model that
    knows a town can name its quarters without having seen any of them.
    """

    kind: ClaimKind
    words: str
    mark: str
    seen: bool = False


@dataclass(frozen=True, slots=True)
class AttemptPosition:
    """Answer of a try, and what it claims along with it."""

    number: int
    answer: Answer
    claims: tuple[AttemptClaim, ...]
    mark: str

    @property
    def point(self) -> LatLon | None:
        """The answer's point."""
        return self.answer.point

    @property
    def places(self) -> bool:
        """Return whether it names any place at all."""
        return self.answer.located or bool(self.answer.address)

    @property
    def country(self) -> str | None:
        """The ISO code of the country that it names."""
        return country_code(self.answer.address.country.conclusion or "")


def list_positions(tries: Sequence[Trajectory]) -> list[AttemptPosition]:
    """Return the position of each try that answered, in their order.

    An answer without a word about its reasons is taken to rest on all that was read in the photo, by whichever try.
    """
    items_by_try = {number: list_items(number, one) for number, one in enumerate(tries, 1) if has_answer(one)}
    read = [line for items in items_by_try.values() for line in _collect_seen_lines(items)]
    return [_stand(number, items, read) for number, items in items_by_try.items()]


def _stand(number: int, items: Sequence[ChainItem], read: Sequence[tuple[str, str]]) -> AttemptPosition:
    last = items[-1]
    answer = last.content.answer if isinstance(last.content, Concluded) else Answer()
    seen = _collect_seen_lines(items)
    reasons = [(text, last.mark) for text in _reasons(answer)]
    named = _find_named_claims(answer, seen, reasons) if reasons else _find_read_claims(read)
    claims = [*_levels(answer, last.mark), *named, *_phones(seen, reasons)]
    return AttemptPosition(number, answer, tuple(claims), last.mark)


def _collect_seen_lines(items: Sequence[ChainItem]) -> list[tuple[str, str]]:
    """The lines that a try has read, each with the piece that shows it."""
    return [
        (line, item.mark) for item in items if isinstance(item.content, Looked) for line in _read_lines(item.content)
    ]


def _levels(answer: Answer, mark: str) -> Iterator[AttemptClaim]:
    address = answer.address
    if address.country.conclusion:
        yield AttemptClaim("country", one_line(address.country.conclusion, 80), mark)
    if address.region.conclusion:
        yield AttemptClaim("region", one_line(address.region.conclusion, 80), mark)
    if address.precise.conclusion:
        yield AttemptClaim("place", one_line(address.precise.conclusion, 120), mark)


def _reasons(answer: Answer) -> Iterator[str]:
    for level in (answer.address.precise, answer.address.region, answer.address.country):
        yield from level.clues
    if answer.explanation:
        yield answer.explanation


def _read_lines(looked: Looked) -> Iterator[str]:
    data: Any = looked.observation.data
    if looked.observation.failure is None and isinstance(data, Mapping) and isinstance(data.get("lines"), list):
        for row in data["lines"]:
            if isinstance(row, Mapping) and isinstance(row.get("text"), str):
                yield row["text"]


def _find_named_claims(
    answer: Answer, seen: Sequence[tuple[str, str]], reasons: Sequence[tuple[str, str]]
) -> Iterator[AttemptClaim]:
    """Names that the answer rests on: what was read in the photo and stands in its address or its quotations first.

    Then what it quotes and no tool read; not its own place, which is asked about otherwise.
    """
    own = {fold(part) for part in str(answer.address).split(",")}
    words = fold(str(answer.address))
    quoted = [
        (next(group for group in match.groups() if group), mark)
        for text, mark in reasons
        for match in _QUOTED.finditer(text)
    ]
    read = [(line, mark) for line, mark in seen if len(fold(line)) >= _MIN_LETTERS and fold(line) in words]
    found: dict[str, AttemptClaim] = {}
    for name, mark in [*read, *quoted]:
        line = _tidy(name)
        key = fold(line)
        where = _find_reading(key, seen)
        if (where or key not in own) and _may_name(line):
            found.setdefault(key, AttemptClaim("named", line, where or mark, seen=where is not None))
    yield from sorted(found.values(), key=lambda claim: not claim.seen)[:MAX_NAMES]


def _find_read_claims(lines: Sequence[tuple[str, str]]) -> Iterator[AttemptClaim]:
    """Names on lines that were read, each once, in the order of reading; and all lines as they stand."""
    found: dict[str, AttemptClaim] = {}
    for text, mark in lines:
        line = _tidy(text)
        if _may_name(line):
            found.setdefault(fold(line), AttemptClaim("named", line, mark, seen=True))
    yield from list(found.values())[:MAX_READ]
    if lines:
        whole = dict.fromkeys(one_line(text) for text, _ in lines)
        yield AttemptClaim("text", "\n".join(list(whole)[:_MAX_LINES]), lines[0][1], seen=True)


def _tidy(name: str) -> str:
    return one_line(name, 60).strip(" .,:;!?")


def _may_name(line: str) -> bool:
    """Return whether a line has letters enough to be a name, and is no country's."""
    return sum(letter.isalpha() for letter in line) >= _MIN_LETTERS and country_code(line) is None


def _find_reading(name: str, seen: Sequence[tuple[str, str]]) -> str | None:
    """The piece in which a folded name was read, on one line or across several; None where it was not."""
    pieces: dict[str, list[str]] = {}
    for line, mark in seen:
        pieces.setdefault(mark, []).append(fold(line))
    return next((mark for mark, lines in pieces.items() if f" {name} " in f" {' '.join(lines)} "), None)


def _phones(seen: Sequence[tuple[str, str]], reasons: Sequence[tuple[str, str]]) -> Iterator[AttemptClaim]:
    """Telephone numbers with a country code, the first of them; those that were read come first."""
    for texts, was_seen in ((seen, True), (reasons, False)):
        for text, mark in texts:
            if (match := _PHONE.search(text)) is not None:
                yield AttemptClaim("phone", one_line(match[0], 30), mark, was_seen)
                return


@dataclass(frozen=True, slots=True)
class Check:
    """A claim, what became of it, and why, on one line."""

    claim: AttemptClaim
    verdict: Verdict
    why: str

    def __str__(self) -> str:
        words = {"holds": "holds", "fails": "FAILS", "open": "could not be checked"}[self.verdict]
        said = "all that was read" if self.claim.kind == "text" else f"{self.claim.kind} {self.claim.words!r}"
        return f"{self.claim.mark} {said}: {words} ({self.why})"


def list_queries(stand: AttemptPosition) -> Iterator[Call]:
    """Yield the queries to the atlas about a try, the most telling first."""
    point, code = stand.point, stand.country
    kinds = {claim.kind for claim in stand.claims}
    if point is not None and kinds & {"country", "region"}:
        yield _reverse(point)
    if "place" in kinds or (point is None and stand.places):
        yield _geocode(stand)
    for claim in stand.claims:
        if claim.kind == "named" and claim.seen and point is not None:
            yield _search(claim, point)
        if claim.kind == "phone" and code is not None:
            yield Call("country_facts", {"country": code})
        if claim.kind == "text" and point is not None:
            yield _build_clue_call(claim)


def _build_clue_call(claim: AttemptClaim) -> Call:
    return Call("text_clues", {"text": claim.words})


def _reverse(point: LatLon) -> Call:
    return Call("reverse_geocode", {"latitude": round(point.lat, 6), "longitude": round(point.lon, 6)})


def _geocode(stand: AttemptPosition) -> Call:
    return Call("maps_geocode", {"address": one_line(str(stand.answer.address), 200)})


def _search(claim: AttemptClaim, point: LatLon) -> Call:
    return Call("poi_keyword_search", {"keyword": claim.words, "near": f"{point.lat:.5f},{point.lon:.5f}"})


def check_claims(stand: AttemptPosition, notebook: Notebook) -> list[Check]:
    """Return the checked claims of a try, as far as the atlas was queried."""
    return [_check_claim(claim, stand, notebook) for claim in stand.claims]


def find_point(stand: AttemptPosition, notebook: Notebook) -> LatLon | None:
    """The point of a try; where it gives none, that of the place it names, if known. A country has none."""
    if stand.point is not None:
        return stand.point
    sure = [hit for hit in _hits(_find_finished_call(notebook, _geocode(stand)), leave_out="country") if hit[2]]
    return sure[0][0] if sure else None


def _check_claim(claim: AttemptClaim, stand: AttemptPosition, notebook: Notebook) -> Check:
    point = stand.point
    match claim.kind:
        case "country" | "region" if point is not None:
            return _check_area(claim, stand, _find_finished_call(notebook, _reverse(point)))
        case "place":
            return _check_place(claim, stand, _find_finished_call(notebook, _geocode(stand)))
        case "named" if not claim.seen:
            return Check(claim, "open", "no tool read it in the photo")
        case "named" | "text" if point is not None:
            asked, check = (
                (_build_clue_call(claim), _check_text)
                if claim.kind == "text"
                else (_search(claim, point), _checking_named)
            )
            return check(claim, stand, _find_finished_call(notebook, asked))
        case "phone" if stand.country is not None:
            return _phone(claim, _find_finished_call(notebook, Call("country_facts", {"country": stand.country})))
        case _:
            return Check(claim, "open", "there is no point to hold it against")


def _find_finished_call(notebook: Notebook, call: Call) -> FinishedCall | None:
    return next((item for item in notebook.find_calls(call.name) if dict(item.arguments) == dict(call.arguments)), None)


def _check_area(claim: AttemptClaim, stand: AttemptPosition, done: FinishedCall | None) -> Check:
    if done is None or not done.data.get("country"):
        return Check(claim, "open", "nothing was found out about the point")
    found, name = str(done.data["country"]), str(done.data.get("country_name") or done.data["country"])
    if claim.kind == "country":
        code = country_code(claim.words)
        if code is None:
            return Check(claim, "open", "no country of this name is known")
        return Check(claim, "holds" if code == found else "fails", f"the point lies in {one_line(name, 60)}")
    region = done.data.get("region")
    if not region or not same_region(claim.words, str(region), stand.country):
        # Regions go by many names and levels: another word is not another place.
        return Check(claim, "open", f"the map calls the region {one_line(str(region or 'nothing'), 60)}")
    return Check(claim, "holds", "the point lies in it")


def _check_place(claim: AttemptClaim, stand: AttemptPosition, done: FinishedCall | None) -> Check:
    hits = [hit for hit in _hits(done) if hit[2]]
    if not hits:
        return Check(claim, "open", "the map knows no place of this name")
    if stand.point is None:
        return Check(claim, "holds", f"there is {hits[0][1]}")
    away, name = min((distance_km(point, stand.point) - reach, name) for point, name, _, reach in hits)
    if away <= max(NEAR_KM, stand.answer.radius_km or 0.0):
        return Check(claim, "holds", f"{name} is there")
    return Check(claim, "fails", f"{name} lies {length(away)} from the point")


def _checking_named(claim: AttemptClaim, stand: AttemptPosition, done: FinishedCall | None) -> Check:
    hits = [hit for hit in _hits(done) if hit[2]]
    point = stand.point
    if not hits or point is None:
        return Check(claim, "open", "the map knows nothing of this name near it")
    away, name = min((distance_km(where, point) - reach, name) for where, name, _, reach in hits)
    if away <= max(NAMED_NEAR_KM, min(stand.answer.radius_km or 0.0, NEAR_KM)):
        return Check(claim, "holds", f"{name} is {length(max(0.0, away))} from the point")
    return Check(claim, "open", f"the nearest is {length(away)} away, and names repeat")


def _phone(claim: AttemptClaim, done: FinishedCall | None) -> Check:
    codes = [re.sub(r"\D", "", str(item)) for item in (done.data.get("calling_codes") or ())] if done else []
    if not codes or done is None:
        return Check(claim, "open", "the country's calling code is not known")
    digits = re.sub(r"\D", "", claim.words)
    digits = digits.removeprefix("00") if claim.words.startswith("00") else digits
    name = one_line(str(done.data.get("name")), 60)
    holds = any(digits.startswith(code) for code in codes if code)
    if holds and not claim.seen:
        return Check(claim, "open", "no tool read it in the photo")
    return Check(claim, "holds" if holds else "fails", f"{name} has +{' and +'.join(codes)}")


def _check_text(claim: AttemptClaim, stand: AttemptPosition, done: FinishedCall | None) -> Check:
    """Check whether the whole reading supports the point or another country."""
    together, point = done.data.get("together") if done else None, stand.point
    if not isinstance(together, Mapping) or point is None:
        return Check(claim, "open", "nothing was found out about it")
    for item in together.get("places", ()):
        near = distance_km(LatLon(item["lat"], item["lon"]), point) <= max(AREA_KM, float(item["radius_km"]))
        if near and item["share"] >= LIKELY:
            return Check(claim, "holds", f"together it leads to {one_line(str(item['name']), 60)}")
    shares = together.get("countries") or {}
    sure = sum(shares.values()) >= 1 - UNLIKELY
    if sure and stand.country is not None and shares.get(stand.country, 0.0) < UNLIKELY:
        return Check(claim, "fails", "together it leads to another country")
    return Check(claim, "open", "together it leads to no place near the point")


def _hits(done: FinishedCall | None, leave_out: str | None = None) -> list[tuple[LatLon, str, bool, float]]:
    """Point, name, whether the name was plainly meant, and how far the place reaches from its point in km."""
    results = done.data.get("results") if done else None
    found = []
    for result in results if isinstance(results, Sequence) else ():
        lat, lon = (result.get("lat"), result.get("lon")) if isinstance(result, Mapping) else (None, None)
        if isinstance(lat, int | float) and isinstance(lon, int | float) and is_valid(lat, lon):
            if result.get("level") == leave_out is not None:
                continue
            meant = result.get("match") in ("exact", "alias") or float(result.get("score") or 0.0) >= _SURE
            meant = meant and not result.get("missing")
            found.append(
                (LatLon(lat, lon), one_line(str(result.get("name")), 80), meant, _reach_km(result.get("extent")))
            )
    return found


def _reach_km(extent: Any) -> float:
    """The disc of a settlement holds its dense part; what people call by its name reaches about twice as far."""
    if not isinstance(extent, Mapping):
        return 0.0
    if isinstance(extent.get("radius_km"), int | float):
        return 2.0 * float(extent["radius_km"])
    sides = [extent.get(side) for side in ("south", "west", "north", "east")]
    if not all(isinstance(side, int | float) for side in sides):
        return 0.0
    south, west, north, east = (float(side) for side in sides if side is not None)
    return distance_km(LatLon(south, west), LatLon(north, east)) / 2
