"""A finding as pages and programs get it: the answer, its clues, what the files claim, and how two runs differ."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from math import isfinite
from typing import Any, TypeVar, cast

from geosleuth import __version__
from geosleuth.agent import Budget, EndReason, Hypothesis, Spent
from geosleuth.agent.display import (
    SeenLine,
    convert_box,
    first_views,
    is_withheld,
    tells_evidence_alone,
    text_seen,
)
from geosleuth.agent.locate import Finding
from geosleuth.agent.spoken_of import is_about
from geosleuth.answer import Level
from geosleuth.answer.answer import LevelName, is_wide, iterate_named_levels
from geosleuth.answer.formats import area_geometry
from geosleuth.atlas.suggestion import find_missing_map, missing_map
from geosleuth.evidence import Clue
from geosleuth.evidence.posterior import Contribution, Posterior
from geosleuth.evidence.text_clue import specify_place
from geosleuth.geo import SAME_SPOT_KM, LatLon, distance_km
from geosleuth.models.detective import KIND_WORDS, Reasoning, clue_id
from geosleuth.models.detective.candidates import full_name, standing
from geosleuth.names import country_code, country_name, fold, whole_country, with_article
from geosleuth.photo import Claims
from geosleuth.pipeline.team import Voice, spent_together, voices
from geosleuth.report.digest import FindingDigest, RivalPlace, away_km, build_digest
from geosleuth.support.text.numbers import distance
from geosleuth.tools import ImageInfo
from geosleuth.tools.argument_types import writable
from geosleuth.tools.viewer import one_line

from .shapes import (
    AddressView,
    AnswerView,
    BudgetView,
    CandidateView,
    ClaimView,
    ClueView,
    CompareView,
    EndedView,
    LevelView,
    MapView,
    OddsView,
    ResultView,
    RivalView,
    SpentView,
    SupportView,
    TeamView,
    TextView,
    VoiceView,
)

MAX_CLUES = 80
MAX_PLACES, MAX_COUNTRIES = 4, 3
# Candidates and countries that are less likely are not worth a line in what a clue supports.
MIN_PLACE, MIN_COUNTRY = 0.01, 0.03

# Kind of a clue that a model states in its own words.
MODEL_STATED_KIND = "said"

_LEVEL_WORDS: Mapping[LevelName | None, str] = {
    "precise": "place", "region": "region", "country": "country", None: "evidence",
}  # fmt: skip

_APART_KM = 1.0
_SEEN_CHARS, _SAYS_CHARS = 200, 400

T = TypeVar("T")
SAME_PLACE_KM = 1.0
MAX_TEXT = 10_000
_MAX_ODDS = 12


def views_of_clues(
    reasoning: Reasoning, images: Mapping[str, ImageInfo], firsts: Mapping[int, ImageInfo]
) -> list[ClueView]:
    """Return the clues that count, the strongest first, then those that a person has ruled out.

    Args:
        reasoning: what the detective made of a run.
        images: every picture of the run, by its handle.
        firsts: the photos' first views, by the photos' numbers.
    """
    supported: dict[Clue, list[SupportView]] = {}
    for name, country, point, parts in _hypotheses(reasoning.full_posterior):
        for part in parts:
            if part.speaks_for or (part.speaks_against and part.log_ratio < 0):
                supported.setdefault(part.clue, []).append(_support(name, country, point, part))
    views: dict[str, ClueView] = {}
    for clue in reasoning.full_posterior.clues[:MAX_CLUES]:
        _add(views, _view(clue, supported.get(clue, ()), images, firsts, rejected=False))
    counted = sorted(views.values(), key=lambda view: -_strength(view))
    kept = {view["id"]: view for view in counted}
    for clue in reasoning.clues_ruled_out[:MAX_CLUES]:
        view = _view(clue, (), images, firsts, rejected=True)
        kept.setdefault(view["id"], view)
    return list(kept.values())


def _hypotheses(found: Posterior) -> Iterator[tuple[str, str | None, LatLon | None, Sequence[Contribution]]]:
    taken: list[LatLon] = []
    for candidate in found.candidates:
        if candidate.probability < MIN_PLACE or len(taken) >= MAX_PLACES:
            break
        if all(distance_km(candidate.point, other) > _APART_KM for other in taken):
            taken.append(candidate.point)
            yield (
                full_name(candidate.name, candidate.country),
                candidate.country,
                candidate.point,
                candidate.contributions,
            )
    for code, share in list(found.countries.items())[:MAX_COUNTRIES]:
        if share >= MIN_COUNTRY:
            yield country_name(code), code, None, found.country_contributions(code)


def _support(name: str, country: str | None, point: LatLon | None, part: Contribution) -> SupportView:
    return {
        "name": one_line(name, _SEEN_CHARS),
        "country": country,
        "lat": None if point is None else point.lat,
        "lon": None if point is None else point.lon,
        "log_ratio": round(part.log_ratio, 3),
    }


def _view(
    clue: Clue,
    supports: Sequence[SupportView],
    images: Mapping[str, ImageInfo],
    firsts: Mapping[int, ImageInfo],
    *,
    rejected: bool,
) -> ClueView:
    image = images.get(clue.where.image) if clue.where else None
    first = firsts.get(image.photo) if image else None
    box = convert_box(clue.where.box, image, first) if clue.where and image and first else None
    return {
        "id": clue_id(clue.kind, clue.seen),
        "kind": clue.kind,
        "kind_words": KIND_WORDS[clue.kind],
        "seen": one_line(clue.seen, _SEEN_CHARS),
        "says": one_line(_word_clue(clue, supports).says, _SAYS_CHARS),
        "photo": first.photo if first and box else None,
        "box": [round(side, 5) for side in box] if box else None,
        "reliability": round(clue.reliability, 3),
        "supports": sorted(supports, key=lambda support: -(support["log_ratio"] or 0.0)),
        "caution": clue.caution,
        "rejected": rejected,
    }


def _word_clue(clue: Clue, supports: Sequence[SupportView]) -> Clue:
    """Return a clue worded for the likeliest place it supports: a name may be that of many places."""
    best = next((support for support in supports if (support["log_ratio"] or 0.0) > 0), None)
    if best is None or best["country"] is None:
        return clue
    lat, lon = best["lat"], best["lon"]
    return specify_place(clue, best["country"], None if lat is None or lon is None else LatLon(lat, lon))


def _add(views: dict[str, ClueView], view: ClueView) -> None:
    """Add a clue; clues of one id are shown as one, since they are rejected as one."""
    known = views.get(view["id"])
    if known is None or _strength(view) > _strength(known):
        views[view["id"]] = view


def _strength(view: ClueView) -> float:
    return max((abs(item["log_ratio"] or 0.0) for item in view["supports"]), default=0.0)


def clue_views(
    reasoning: Reasoning | None, finding: Finding, digest: FindingDigest, seen: Sequence[SeenLine]
) -> list[ClueView]:
    """Return the clues of a run, the strongest first, and those that a person has ruled out.

    A model's are the evidence of its answer, level by level; how much each weighs it does not say.
    """
    trajectory = finding.trajectory
    if reasoning is not None:
        images = {image.handle: image for image in trajectory.images}
        return views_of_clues(reasoning, images, first_views(trajectory.task.images))
    if tells_evidence_alone(trajectory):
        return []
    level_of = {
        line.strip(): (name, level)
        for name, level in iterate_named_levels(digest.answer.address)
        for line in level.clues
    }
    views: dict[str, ClueView] = {}
    for line in (*digest.evidence, *digest.rejections)[:MAX_CLUES]:
        name, level = level_of.get(line, (None, Level()))
        view = _build_model_clue(line, name, level, digest.answer.point, seen)
        views.setdefault(view["id"], view | {"rejected": line not in digest.evidence})
    return list(views.values())


def _build_model_clue(
    line: str, name: LevelName | None, level: Level, point: LatLon | None, seen: Sequence[SeenLine]
) -> ClueView:
    read = next((item for item in seen if is_about(line, item.text)), None)
    line = one_line(line, _SAYS_CHARS)
    at = point if name == "precise" else None
    support: SupportView = {
        "name": one_line(level.conclusion or "", _SEEN_CHARS),
        "country": country_code(level.conclusion or "") if name == "country" else None,
        "lat": get_latitude(at),
        "lon": get_longitude(at),
        "log_ratio": None,
    }
    return {
        "id": clue_id(MODEL_STATED_KIND, line),
        "kind": MODEL_STATED_KIND,
        "kind_words": _LEVEL_WORDS[name],
        "seen": line,
        "says": "",
        "photo": read.photo if read else None,
        "box": list(read.box) if read else None,
        "reliability": None,
        "supports": [support] if level.conclusion else [],
        "caution": None,
        "rejected": False,
    }


def answer_view(finding: Finding, radii_km: Mapping[str, float] | None = None) -> AnswerView:
    """Return the answer, no finer than the finding's granularity.

    Args:
        finding: what came of it.
        radii_km: radii of candidates by folded name; answers state only that of the best.
    """
    digest = build_digest(finding)
    answer, account = digest.answer, digest.account
    levels = answer.address
    explanation = answer.explanation or ""
    address: AddressView = {
        "country": levels.country.conclusion,
        "region": levels.region.conclusion,
        "precise": levels.precise.conclusion,
    }
    return {
        "place": digest.place,
        "located": digest.located,
        "address": address,
        "lat": get_latitude(answer.point),
        "lon": get_longitude(answer.point),
        "radius_km": answer.radius_km,
        "probability": answer.probability,
        "sure": digest.sure,
        "why": "" if is_withheld(digest.own_words) else digest.own_words[:MAX_TEXT],
        "levels": [_level(name, one) for name, one in digest.levels],
        "explanation": "" if is_withheld(explanation) else explanation[:MAX_TEXT],
        "evidence": list(digest.evidence),
        "candidates": [_rival(rival, finding, digest, radii_km or {}) for rival in digest.rivals],
        "against": account.against,
        "hangs_on": account.hangs_on,
        "would_help": account.would_help or missing_map(answer),
        "verdict": digest.verdict,
        "conflicts": list(finding.conflicts),
        "area": digest.area,
        "outline": None if digest.outline is None else area_geometry(digest.outline.polygons),
        "map": _map_wanted(finding),
    }


def _level(name: LevelName, level: Level) -> LevelView:
    return {
        "level": name,
        "name": level.conclusion,
        "reasoning": (level.reasoning or "")[:MAX_TEXT],
        "uncertainty": level.uncertainty or "",
    }


def _map_wanted(finding: Finding) -> MapView | None:
    """Return the map that a model asked for last, or else the one that the answer lacks."""
    asked = [
        observation.data
        for observation in finding.trajectory.observations
        if observation.name == "request_map" and not observation.failure
    ]
    wanted = [str(data["place"]) for data in asked if isinstance(data, dict) and data.get("command")]
    if wanted and finding.granularity == "exact":
        return {"place": wanted[-1], "size_bytes": None}
    missing = find_missing_map(finding.answer)
    return None if missing is None else {"place": missing.place, "size_bytes": missing.size_bytes}


def candidate_view(hypothesis: Hypothesis, radius_km: float | None = None) -> CandidateView:
    """Return a candidate of the pool; ``radius_km`` where the pool does not know it."""
    return {
        "id": hypothesis.id,
        "name": hypothesis.place,
        "lat": get_latitude(hypothesis.point),
        "lon": get_longitude(hypothesis.point),
        "radius_km": radius_km if hypothesis.radius_km is None else hypothesis.radius_km,
        "probability": hypothesis.confidence,
        "for": [line for line in hypothesis.evidence_for if not is_withheld(line)],
        "against": [line for line in hypothesis.evidence_against if not is_withheld(line)],
        "fate": hypothesis.fate,
    }


def extract_radii(reasoning: Reasoning | None) -> dict[str, float]:
    """Return how large the detective takes its candidates to be, by their folded names."""
    found = [] if reasoning is None else standing(reasoning)
    return {fold(item.name): round(item.radius_km, 3) for item in found if item.radius_km is not None}


def result_view(finding: Finding, reasoning: Reasoning | None = None) -> ResultView:
    """Return all of a finding.

    Args:
        finding: the result, already capped.
        reasoning: the detective's, see `geosleuth.pipeline.result.rebuild_reasoning`; its clues are shown at ``exact``
            only.
    """
    trajectory = finding.trajectory
    shown_run = finding.best_attempt or trajectory
    exact = finding.granularity == "exact"
    radii_km = extract_radii(reasoning) if exact else {}
    answer, digest = answer_view(finding, radii_km), build_digest(finding)
    started, task, ended = trajectory.started, trajectory.task, trajectory.ended
    seen = text_seen(shown_run, answer["evidence"]) if exact else ()
    result: ResultView = {
        "answer": answer,
        "answered_by": trajectory.answered.by if trajectory.answered else "nobody",
        "ended": None if ended is None else build_ended_view(ended.reason, ended.trouble),
        "clues": clue_views(reasoning, finding, digest, seen) if exact else [],
        "claims": [_claim(number, one, finding, digest) for number, one in enumerate(finding.claims, 1)],
        "spent": spent_view(spent_together(finding), started.budget),
        "model": started.policy,
        "method": started.method,
        "tools": list(started.tools),
        "hint": hide_withheld(task.hint),
        "area": hide_withheld(task.area),
        "granularity": finding.granularity,
        "pool": [candidate_view(item, radii_km.get(fold(item.place))) for item in shown_run.pool],
        "team": _team(finding) if finding.team else None,
        "text": [_text_view(line) for line in seen],
        "versions": {"run": trajectory.geosleuth, "told_by": __version__},
        "trajectory": trajectory.id,
    }
    return for_the_wire(result)


def compare_view(left: ResultView, right: ResultView) -> CompareView:
    """Return what differs between two results."""
    ours, theirs = left["answer"], right["answer"]
    away_km = _apart_km(ours, theirs)
    same = _mean_same(ours, theirs, away_km) if ours["located"] and theirs["located"] else None
    counted, others = _collect_clue_ids(left["clues"]), _collect_clue_ids(right["clues"])
    return {
        "left": ours,
        "right": theirs,
        "words": _difference(ours, theirs, away_km, same=same),
        "same": same,
        "distance_km": away_km,
        "only_left": _only(left["clues"], counted - others, right["clues"]),
        "only_right": _only(right["clues"], others - counted, left["clues"]),
        "candidates": _odds(ours["candidates"], theirs["candidates"]),
        "spent": {"left": left["spent"], "right": right["spent"]},
        "models": {"left": left["model"], "right": right["model"]},
    }


def budget_view(budget: Budget) -> BudgetView:
    """Return a budget."""
    return {
        "turns": budget.turns,
        "calls": budget.calls,
        "tokens": budget.tokens,
        "seconds": budget.seconds,
        "usd": budget.usd,
    }


def _finite(value: float | None) -> float | None:
    """Return a finite number; None for sums of odd services that pass all bounds, which JSON can't hold."""
    return value if value is not None and isfinite(value) else None


def spent_view(spent: Spent, budget: Budget) -> SpentView:
    """Return what was used, and of how much."""
    return {
        "turns": spent.turns,
        "calls": spent.calls,
        "failed_calls": spent.failed_calls,
        "tokens": spent.usage.input_tokens + spent.usage.output_tokens,
        "seconds": round(_finite(spent.seconds) or 0.0, 3),
        "usd": _finite(spent.usage.cost_usd),
        "of": budget_view(budget),
    }


def build_ended_view(reason: EndReason, trouble: str | None) -> EndedView:
    """Return how a run ended."""
    return {"reason": reason, "trouble": hide_withheld(trouble)}


def for_the_wire(view: T) -> T:
    """Return a view whose texts any file and wire can hold: a model may write half a surrogate pair."""
    return cast("T", _replace_unencodable(view))


def _replace_unencodable(value: Any) -> Any:
    if isinstance(value, str):
        return writable(value)
    if isinstance(value, dict):
        return {key: _replace_unencodable(inner) for key, inner in value.items()}
    return [_replace_unencodable(inner) for inner in value] if isinstance(value, list) else value


def hide_withheld(text: str | None) -> str | None:
    """Return a text; None if there is none, or if granularity left it out."""
    return None if text is None or is_withheld(text) else text


def get_latitude(point: LatLon | None) -> float | None:
    """Return degrees north, where there is a point."""
    return None if point is None else point.lat


def get_longitude(point: LatLon | None) -> float | None:
    """Return degrees east, where there is a point."""
    return None if point is None else point.lon


def _rival(place: RivalPlace, finding: Finding, digest: FindingDigest, radii_km: Mapping[str, float]) -> RivalView:
    noted = _find_hypothesis(place, finding.trajectory.pool)
    radius_km = finding.answer.radius_km if place.is_answer else radii_km.get(fold(place.name))
    if radius_km is None and noted is not None:
        radius_km = noted.radius_km
    speaks_for = [place.speaks_for] if place.speaks_for else list(digest.evidence) if place.is_answer else []
    return {
        "id": noted.id if noted else _rival_id(place),
        "letter": place.letter,
        "name": place.name,
        "lat": get_latitude(place.point),
        "lon": get_longitude(place.point),
        "radius_km": radius_km,
        "probability": place.probability,
        "for": [line for line in speaks_for if not is_withheld(line)],
        "against": [place.against] if place.against and not is_withheld(place.against) else [],
        "is_answer": place.is_answer,
    }


def _find_hypothesis(place: RivalPlace, pool: Iterable[Hypothesis]) -> Hypothesis | None:
    for noted in pool:
        if place.is_answer and noted.fate == "answered":
            return noted
    return next((noted for noted in pool if _is_same(noted.place, noted.point, place.name, place.point)), None)


def _is_same(name: str, point: LatLon | None, other: str, at: LatLon | None) -> bool:
    """Return whether two candidates are one place; a country differs from its largest town on the map."""
    if fold(name) and fold(name) == fold(other):
        return True
    near = point is not None and at is not None and distance_km(point, at) <= SAME_PLACE_KM
    return near and whole_country(name) == whole_country(other)


def _rival_id(place: RivalPlace) -> str:
    where = "" if place.point is None else f"{place.point.lat:.4f},{place.point.lon:.4f}"
    return "place-" + sha256(f"{fold(place.name) or place.name}\n{where}".encode()).hexdigest()[:12]


def _claim(number: int, claims: Claims, finding: Finding, digest: FindingDigest) -> ClaimView:
    point, far = claims.point, away_km(digest, claims.point)
    camera = " ".join(part for part in (claims.camera_make, claims.camera_model) if part)
    exact = finding.granularity == "exact"
    width, height = claims.size_px
    return {
        "photo": number,
        "lat": get_latitude(point if exact else None),
        "lon": get_longitude(point if exact else None),
        "conflict": finding.conflicts[number - 1],
        "estimated": claims.estimated,
        "distance_km": None if far is None else round(far, 3),
        "taken_at": claims.taken_at.isoformat() if claims.taken_at else None,
        "heading_deg": claims.heading_deg if exact else None,
        "camera": camera or None,
        "software": claims.software or None,
        "format": claims.format,
        "width": width,
        "height": height,
        "bytes": claims.file_bytes,
        "sha256": claims.sha256,
        "not_a_photo": claims.not_a_photo,
        "notes": list(claims.notes) if exact else [],
    }


def _text_view(line: SeenLine) -> TextView:
    return {
        "text": line.text,
        "photo": line.photo,
        "box": list(line.box),
        "confidence": line.confidence,
        "number": line.number,
    }


def _team(finding: Finding) -> TeamView:
    # Imported late: it loads the code that draws and teaches teams, and most runs have none.
    from geosleuth.report.team_section import agreement_line

    return {"words": agreement_line(finding), "voices": [_voice(voice, finding) for voice in voices(finding)]}


def _voice(voice: Voice, finding: Finding) -> VoiceView:
    own, point = finding.answer, voice.answer.point
    if point is not None and own.point is not None:
        won = distance_km(point, own.point) <= SAME_PLACE_KM
    else:
        won = bool(voice.answer.address) and str(voice.answer.address) == str(own.address)
    return {
        "name": voice.who,
        "place": voice.place,
        "lat": get_latitude(point),
        "lon": get_longitude(point),
        "probability": voice.answer.probability,
        "answered": not voice.failed,
        "failed": voice.failed,
        "won": won,
    }


def _whole_country_code(view: AnswerView) -> str | None:
    """Return the code of the country that is a whole finding, whose point says nothing of where in it; else None."""
    wide = view["area"] == "country" and is_wide(view["radius_km"], view["area"])
    return country_code(view["address"]["country"] or "") if wide else None


def _country_around(view: AnswerView, other: AnswerView) -> str | None:
    from geosleuth.atlas.borders import Borders

    for code, point in (
        (_whole_country_code(view), _view_point(other)),
        (_whole_country_code(other), _view_point(view)),
    ):
        region = Borders.load().find_region(point) if code and point else None
        if region is not None and region.country == code:
            return code
    return None


def _apart_km(view: AnswerView, other: AnswerView) -> float | None:
    if _whole_country_code(view) or _whole_country_code(other):
        return None
    here, there = _view_point(view), _view_point(other)
    return None if here is None or there is None else round(distance_km(here, there), 3)


def _mean_same(view: AnswerView, other: AnswerView, away_km: float | None) -> bool:
    if _whole_country_code(view) or _whole_country_code(other):
        return _whole_country_code(view) == _whole_country_code(other)
    if away_km is None or away_km <= SAME_SPOT_KM:
        return away_km is not None or view["place"] == other["place"]
    return view["place"] == other["place"] and away_km <= max(SAME_PLACE_KM, _reach_km(view, other))


def _reach_km(view: AnswerView, other: AnswerView) -> float:
    return (view["radius_km"] or 0.0) + (other["radius_km"] or 0.0)


def _difference(view: AnswerView, other: AnswerView, away_km: float | None, *, same: bool | None) -> str:
    if same is None:
        either = view["located"] or other["located"]
        return "Only one of the runs found a place." if either else "Neither run found a place."
    if same:
        return "Both runs mean the same place."
    if (
        not (_whole_country_code(view) and _whole_country_code(other))
        and (code := _country_around(view, other)) is not None
    ):
        return f"One run means a place in {with_article(country_name(code))}, the other the whole country."
    if away_km is not None and away_km <= _reach_km(view, other):
        return f"The areas overlap; the points are {distance(away_km)} apart."
    return "The runs mean different places" + ("." if away_km is None else f", {distance(away_km)} apart.")


def _collect_clue_ids(clues: Iterable[ClueView]) -> set[str]:
    return {clue["id"] for clue in clues if not clue["rejected"]}


def _only(ours: Iterable[ClueView], ids: Collection[str], theirs: Iterable[ClueView]) -> list[ClueView]:
    gone = {clue["id"] for clue in theirs if clue["rejected"]}
    return [clue | {"rejected": clue["id"] in gone} for clue in ours if clue["id"] in ids]


def _odds(ours: Sequence[RivalView], theirs: Sequence[RivalView]) -> list[OddsView]:
    rows: list[OddsView] = [
        {"name": our["name"], "lat": our["lat"], "lon": our["lon"], "left": our["probability"], "right": None}
        for our in ours
    ]
    for their in theirs:
        row = next(
            (row for row in rows if _is_same(row["name"], _view_point(row), their["name"], _view_point(their))), None
        )
        if row is None:
            row = {"name": their["name"], "lat": their["lat"], "lon": their["lon"], "left": None, "right": None}
            rows.append(row)
        row["right"] = their["probability"]
    return sorted(rows, key=lambda row: -max(row["left"] or 0.0, row["right"] or 0.0))[:_MAX_ODDS]


def _view_point(view: AnswerView | RivalView | OddsView) -> LatLon | None:
    lat, lon = view["lat"], view["lon"]
    return None if lat is None or lon is None else LatLon(lat, lon)
