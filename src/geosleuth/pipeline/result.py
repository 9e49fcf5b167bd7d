"""One result, with one JSON schema for every interface, and what it says about a claimed place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from html import escape
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

from geosleuth.agent import Hypothesis, Spent, build_conversation, spent_document
from geosleuth.agent.display import classify_extent, whole_country
from geosleuth.agent.locate import Finding
from geosleuth.agent.spoken_of import collect_rejected
from geosleuth.answer import Answer, answer_to_dict
from geosleuth.answer.answer import Extent, envelope, radius_words
from geosleuth.answer.formats import LocatedAnswer, geojson, to_kml
from geosleuth.answer.granularity import GRANULARITIES, cap, compute_granularity
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.granular import OfflineGazetteer, wide_country
from geosleuth.geo import SAME_SPOT_KM, LatLon, distance_km
from geosleuth.geo.extent import plain
from geosleuth.models.detective import Detective, Reasoning, evidence_line
from geosleuth.names import country_code, country_name, with_article
from geosleuth.photo import SidecarClaim
from geosleuth.photo.nature import NATURES
from geosleuth.support.errors import GeosleuthError, UserError
from geosleuth.support.text.numbers import distance
from geosleuth.support.text.safe import one_line
from geosleuth.teams.parallel import chains_read, evidence_named
from geosleuth.teams.parallel import has_answer as came_to_an_answer
from geosleuth.tools.surfaces import NUMBER, POINT, TEXT, WHOLE, YES_NO, many, maybe, record

from .outputs import build_entries
from .plan import Plan
from .team import NEAR_KM, agreement, are_tries, find_failed_verifier, spent_together, voices

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]

    from .notebook import Exploration

Verdict = Literal["for", "against", "undecided"]
# How probable a finding must be to speak for a place that it holds, and against one that it does not.
LIKELY, SURE = 0.5, 0.8

# A country is ruled out if the clues leave less than this share of its prior probability.
RULED_OUT_SHARE = 0.05

_NEAR_KM, _NEAR_RADII = 1.0, 2.0
_DEFAULT_KM = 25.0
_COARSE_KM = 100.0
_LINES = 4

_LEVEL = record(
    {"conclusion": TEXT, "clues": many(TEXT), "reasoning": TEXT, "uncertainty": TEXT},
    optional=("conclusion", "clues", "reasoning", "uncertainty"),
)


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """The verdict on a claimed place, and why."""

    claimed: LatLon
    verdict: Verdict
    reason: str
    speaks_for: tuple[str, ...] = ()
    speaks_against: tuple[str, ...] = ()


async def check_claim(finding: Finding, plan: Plan, atlas: OfflineAtlas) -> ClaimCheck | None:
    """Hold a finding against the claimed place, where there is one.

    Of a capped finding only what may be told is compared, and no evidence is given. The claimed place is compared as it
    was given, and shown as coarsely as the finding.
    """
    if plan.check is None:
        return None
    code = whole_country(finding.trajectory, finding.granularity)
    if finding.granularity != "exact":
        shown = (await cap(Answer(plan.check), finding.granularity, OfflineGazetteer(atlas))).point or plan.check
        verdict, reason = _check_claim(plan.check, finding.answer, code, coarse=True)
        return ClaimCheck(shown, verdict, f"{reason}; it was compared as given, and is shown rounded")
    if (reasoning := rebuild_reasoning(finding, plan)) is not None:
        return _by_clues(plan.check, finding.answer, reasoning, code)
    verdict, reason = _check_claim(plan.check, finding.answer, code)
    return ClaimCheck(plan.check, verdict, reason)


def rebuild_reasoning(finding: Finding, plan: Plan) -> Reasoning | None:
    """Return the detective's reasoning on a run; None if another policy worked on it, or it may not be shown."""
    if finding.granularity != "exact" or finding.album is None or not isinstance(plan.policy, Detective):
        return None
    conversation = build_conversation(
        finding.trajectory.events,
        context=plan.method.context,
        tools=plan.toolset,
        picture=finding.album.__getitem__,
    )
    return plan.policy.review(conversation)


def check_distance(claimed: LatLon, answer: Answer, *, coarse: bool = False) -> tuple[Verdict, str]:
    """Return what an answer's circle says of a claimed place, and why; ``coarse`` rounds the distance."""
    if answer.point is None:
        return "undecided", "no place was found that it could be held against"
    away_km = distance_km(claimed, answer.point)
    radius_km, sure = answer.radius_km or _DEFAULT_KM, answer.probability
    # One digit: a distance to the metre would tell of a place what its rounding hides.
    away = f"about {radius_words(max(float(f'{away_km:.1g}'), _NEAR_KM))}" if coarse else distance(away_km)
    reason = f"it lies {away} from the finding"
    reason += "" if answer.radius_km is None else f", whose radius is {radius_words(answer.radius_km)}"
    if away_km <= radius_km + SAME_SPOT_KM:
        doubt = ": too coarse to say more than that it fits" if radius_km > _COARSE_KM else ""
        if not doubt and sure is not None and sure < LIKELY:
            doubt = ", but the finding is not likely itself"
        return "undecided" if doubt else "for", reason + doubt
    if away_km <= max(_NEAR_KM, _NEAR_RADII * radius_km):
        return "undecided", f"{reason}: near, but outside the radius"
    if sure is not None and sure >= SURE:
        return "against", reason
    return "undecided", f"{reason}, and that is not certain enough to speak against it"


def _check_claim(claimed: LatLon, answer: Answer, code: str | None, *, coarse: bool = False) -> tuple[Verdict, str]:
    return check_country(claimed, answer, code) if code else check_distance(claimed, answer, coarse=coarse)


def check_country(claimed: LatLon, answer: Answer, code: str) -> tuple[Verdict, str]:
    """Return what an answer that is a whole country says of a claimed place: its border decides, and no distance."""
    from geosleuth.atlas.borders import Borders

    region = Borders.load().find_region(claimed)
    if region is not None and region.country == code:
        return "undecided", f"it lies in {with_article(country_name(code))}, and the finding says no more than that"
    where = f"in {with_article(country_name(region.country))}" if region else "at sea"
    reason = f"it lies {where}, and the finding is {with_article(country_name(code))}"
    if answer.probability is not None and answer.probability >= SURE:
        return "against", reason
    return "undecided", f"{reason}, which is not certain enough to speak against it"


def _by_clues(claimed: LatLon, answer: Answer, reasoning: Reasoning, code: str | None) -> ClaimCheck:
    from geosleuth.atlas.borders import Borders
    from geosleuth.evidence.country_prior import country_prior

    verdict, reason = _check_claim(claimed, answer, code)
    region = Borders.load().find_region(claimed)
    found = reasoning.full_posterior
    near = [
        candidate
        for candidate in found.candidates
        if distance_km(candidate.point, claimed) <= candidate.radius_km + SAME_SPOT_KM
    ]
    if near:
        parts = max(near, key=lambda item: item.probability).contributions
    else:
        parts = found.country_contributions(region.country) if region else ()
    if verdict == "undecided" and region is not None and found.clues:
        share, before = found.countries.get(region.country, 0.0), country_prior().get(region.country, 0.0)
        if before and share < RULED_OUT_SHARE * before:
            verdict = "against"
            reason = f"the clues leave {country_name(region.country)} hardly any chance"
    return ClaimCheck(
        claimed,
        verdict,
        reason,
        tuple(evidence_line(part.clue) for part in parts if part.speaks_for)[:_LINES],
        tuple(evidence_line(part.clue) for part in reversed(parts) if part.speaks_against)[:_LINES],
    )


def format_claim_check(checked: ClaimCheck) -> list[str]:
    """The verdict for people, above the finding."""
    where = f"{checked.claimed.lat:.5f}, {checked.claimed.lon:.5f}"
    heads = {
        "for": f"The evidence speaks for {where}",
        "against": f"The evidence speaks against {where}",
        "undecided": f"Whether it was {where} can't be decided",
    }
    return [
        f"{heads[checked.verdict]}: {checked.reason}.",
        *(f"  for: {one_line(line)}" for line in checked.speaks_for),
        *(f"  against: {one_line(line)}" for line in checked.speaks_against),
    ]


@dataclass(frozen=True, slots=True, repr=False)
class LocateResult(Finding):
    """A finding that can be written down.

    Attributes:
        checked: the verdict on a claimed place.
        photo: the file of the photo, or of the first of several.
    """

    checked: ClaimCheck | None = None
    photo: Path | None = None

    @classmethod
    def from_finding(
        cls, finding: Finding, checked: ClaimCheck | None = None, photo: Path | None = None
    ) -> "LocateResult":
        """Return a finding as a result."""
        told = {field.name: getattr(finding, field.name) for field in fields(Finding)}
        return cls(**told, checked=checked, photo=photo)

    @property
    def answer(self) -> Answer:
        """The answer: address, point, radius_km, probability, explanation, candidates.

        A whole country has no point and no radius, see ``extent``; nor has a candidate that is one.
        """
        whole = self.whole_answer
        candidates = tuple(
            replace(candidate, point=None) if wide_country(candidate.name or "") else candidate
            for candidate in whole.candidates
        )
        told = replace(whole, candidates=candidates)
        return replace(told, point=None, radius_km=None) if self.extent == "country" else told

    @property
    def extent(self) -> Extent | None:
        """The kind of finding: "country", "circle" (the middle of a region), "point"; None without a place."""
        return classify_extent(self.trajectory, self.granularity)

    @property
    def failed(self) -> str:
        """The error, where the model failed; else empty."""
        ended = self.trajectory.ended
        return (ended.trouble or "the model failed") if ended is not None and ended.reason == "service" else ""

    def to_dict(self) -> dict[str, Any]:
        """Return the document of ``geosleuth locate --json``."""
        return result_document(self, self.checked)

    def to_geojson(self) -> dict[str, Any]:
        """Return a GeoJSON feature collection: the place, its uncertainty, and other candidates."""
        return geojson(self._build_result_entries())

    def to_kml(self) -> str:
        """Return the same as KML, for Google Earth and others."""
        return to_kml(self._build_result_entries())

    def explore(self) -> "Exploration":
        """Return a closer look for notebooks: photos with boxes, maps, evidence; ``.save("page.html")`` keeps it."""
        from .notebook import explore

        return explore(self)

    def _repr_html_(self) -> str:
        from .notebook import result_html

        return result_html(self)

    def _build_result_entries(self) -> list[LocatedAnswer]:
        names = [self.photo] if self.photo else [Path(f"photo-{number + 1}") for number in range(len(self.claims))]
        photos = [(claims.sha256, name) for claims, name in zip(self.claims, names, strict=False)]
        return build_entries(self.trajectory, photos[:1], self.granularity)


class Findings(Sequence[LocateResult]):
    """The findings of many photos, in their order; ``failed`` has what went wrong with others, by their paths."""

    def __init__(self, found: Mapping[Path, LocateResult | Exception]) -> None:
        self._found = dict(found)
        self._results = [item for item in found.values() if isinstance(item, LocateResult)]
        self.failed = {path: one for path, one in found.items() if isinstance(one, Exception)}

    @overload
    def __getitem__(self, at: int) -> LocateResult: ...
    @overload
    def __getitem__(self, at: slice) -> list[LocateResult]: ...
    def __getitem__(self, at: int | slice) -> LocateResult | list[LocateResult]:
        return self._results[at]

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        located = sum(item.extent is not None for item in self)
        return f"<Findings: {located} of {len(self._found)} located, {len(self.failed)} failed>"

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each photo, those that failed too: photo, place, point, radius, odds, extent, error."""
        return [_build_result_row(path, one) for path, one in self._found.items()]

    def to_dataframe(self) -> "pd.DataFrame":
        """Return `rows` as a pandas data frame.

        Raises:
            UserError: pandas is not installed.
        """
        try:
            from pandas import DataFrame
        except ModuleNotFoundError as error:
            raise UserError("to_dataframe() needs pandas, which is not installed; run: pip install pandas") from error
        return DataFrame(self.rows(), columns=list(_build_result_row(Path(), GeosleuthError())))

    def to_geojson(self) -> dict[str, Any]:
        """Return all findings as one GeoJSON feature collection."""
        return geojson([entry for item in self for entry in item._build_result_entries()])  # noqa: SLF001

    def _repr_html_(self) -> str:
        rows = self.rows()
        head = "".join(f"<th>{escape(name)}</th>" for name in (rows or [{}])[0])
        body = "".join(
            "<tr>" + "".join(f"<td>{escape('' if item is None else str(item))}</td>" for item in row.values()) + "</tr>"
            for row in rows
        )
        return f"<table><tr>{head}</tr>{body}</table>"


def _build_result_row(path: Path, item: LocateResult | Exception) -> dict[str, Any]:
    answer = item.answer if isinstance(item, LocateResult) else Answer()
    return {
        "photo": str(path),
        "place": envelope(answer.address) or None,
        "country_code": country_code(answer.address.country.conclusion or ""),
        "lat": answer.point.lat if answer.point else None,
        "lon": answer.point.lon if answer.point else None,
        "radius_km": answer.radius_km,
        "probability": answer.probability,
        "extent": item.extent if isinstance(item, LocateResult) else None,
        "error": str(item) if isinstance(item, Exception) else None,
    }


def result_document(finding: Finding, checked: ClaimCheck | None = None) -> dict[str, Any]:
    """Return a finding as the one JSON document of all surfaces; `result_schema` describes it."""
    trajectory = finding.trajectory
    answered, ended = trajectory.answered, trajectory.ended
    return {
        "answer": answer_document(finding.whole_answer),
        "extent": classify_extent(trajectory, finding.granularity),
        "country_code": country_code(finding.whole_answer.address.country.conclusion or ""),
        "answered_by": answered.by if answered else "nobody",
        "ended": ended.reason if ended else None,
        "trouble": ended.trouble if ended else None,
        "model": trajectory.started.policy,
        "method": trajectory.started.method,
        "tools": list(trajectory.started.tools),
        "spent": _spent(spent_together(finding)),
        "derived_from": finding.substitute_place,
        "doubts": [{"kind": doubt.kind, "words": str(doubt)} for doubt in finding.doubts],
        "granularity": compute_granularity(finding.whole_answer, finding.granularity),
        "allowed_granularity": finding.granularity,
        "pool": [_build_candidate(hypothesis) for hypothesis in (finding.best_attempt or trajectory).pool],
        "trajectory": trajectory.id,
        "rejected": list(collect_rejected(event.body for event in trajectory.events)),
        "photos": [
            {
                "sha256": claims.sha256,
                "claimed_point": plain(claims.point),
                "claim_conflicts": conflict,
                "claim_estimated": claims.estimated,
                "sidecar_claims": [_sidecar(sidecar) for sidecar in claims.sidecars],
                **({"not_a_photo": claims.not_a_photo} if claims.not_a_photo else {}),
            }
            for claims, conflict in zip(finding.claims, finding.conflicts, strict=True)
        ],
        **({"team": team_document(finding)} if finding.team else {}),
        **({"check": plain(checked)} if checked is not None else {}),
    }


def answer_document(answer: Answer) -> dict[str, Any]:
    """Return an answer in its full form and with all decimals, its candidates that are whole countries marked."""
    document = answer_to_dict(answer)
    for row in document.get("candidates", ()):
        if "lat" in row and wide_country(row.get("name", "")):
            row["extent"] = "country"
    return document


def _build_candidate(hypothesis: Hypothesis) -> dict[str, Any]:
    code = None if hypothesis.point is None else wide_country(hypothesis.place)
    extent = None if hypothesis.point is None else "country" if code else "point"
    return {**plain(hypothesis), "extent": extent}


def _sidecar(claim: SidecarClaim) -> dict[str, Any]:
    return {"point": plain(claim.point), "place": claim.place, "estimated": claim.estimated, "trouble": claim.trouble}


def team_document(finding: Finding) -> dict[str, Any]:
    """Return each member's answer and the total cost; of tries also the agreement and what decided."""
    own = finding.trajectory
    together = {"spent_together": _spent(spent_together(finding))}
    if not are_tries(finding):
        said = [{"member": voice.who, "answer": answer_document(voice.answer)} for voice in voices(finding)]
        return {"said": said, "runs": [item.id for item in finding.team], **together}
    exact = finding.granularity == "exact"
    failed = find_failed_verifier(finding)
    return {
        "said": [
            {
                "try": number,
                "answered": came_to_an_answer(one),
                "answer": answer_document(one.answer or Answer()),
                "extent": classify_extent(one, finding.granularity),
                "ended": one.ended.reason if one.ended else None,
                "trouble": one.ended.trouble if one.ended else None,
                "model": one.started.policy,
                "seed": one.started.sampling.seed,
                "spent": _spent(one.spent),
                "trajectory": one.id,
            }
            for number, one in enumerate(finding.team, 1)
        ],
        "agree": agreement(finding),
        "picked": None if (picked := finding.best_attempt) is None else finding.team.index(picked) + 1,
        "within_km": NEAR_KM if exact else None,
        "chains": chains_read(own) if exact else None,
        "evidence": list(evidence_named(own, finding.team)),
        **({"verifier": {"wanted": failed.model, "failed": failed.reason}} if failed else {}),
        **together,
    }


def _spent(spent: Spent) -> dict[str, Any]:
    usd = spent.usage.cost_usd
    # Sums of what odd services say they took may pass all bounds, which JSON can't say.
    return {**spent_document(spent), "usd": usd if usd is None or isfinite(usd) else None}


def result_schema() -> dict[str, Any]:
    """Return the JSON schema of `result_document`."""
    candidate = record(
        {"name": TEXT, **POINT, "probability": NUMBER, "evidence": TEXT, "extent": {**TEXT, "enum": ["country"]}},
        optional=("name", "lat", "lon", "probability", "evidence", "extent"),
    )
    extent = {
        "type": ["string", "null"],
        "enum": [*get_args(Extent), None],
        "description": "What lat, lon and radius_km mean. country: they stand for all of the country in country_code, "
        "and for no place in it. circle: the middle and radius of a circle, of which no more than its country or "
        "region is named. point: the place, as near as radius_km says. null: no place was found.",
    }
    answer = {
        "format": TEXT,
        **POINT,
        "country": _LEVEL,
        "region": _LEVEL,
        "precise": _LEVEL,
        "probability": NUMBER,
        "radius_km": NUMBER,
        "explanation": TEXT,
        "candidates": many(candidate),
    }
    spent = {
        "turns": WHOLE,
        "calls": WHOLE,
        "failed_calls": WHOLE,
        "withheld_calls": WHOLE,
        "seconds": NUMBER,
        "input_tokens": maybe(WHOLE),
        "output_tokens": maybe(WHOLE),
        "usd": maybe(NUMBER),
        "services": many(record({"name": TEXT, "asked": WHOLE, "failed": WHOLE, "fallbacks": WHOLE})),
    }
    sidecar = {
        "point": maybe(record(POINT)),
        "place": maybe(TEXT),
        "estimated": YES_NO,
        "trouble": maybe(TEXT),
    }
    photo = {
        "sha256": TEXT,
        "claimed_point": maybe(record(POINT)),
        "claim_conflicts": maybe(YES_NO),
        "claim_estimated": YES_NO,
        "sidecar_claims": many(record(sidecar)),
        "not_a_photo": {**TEXT, "enum": [item for item in NATURES if item != "photo"]},
    }
    check = {
        "claimed": record(POINT),
        "verdict": {**TEXT, "enum": ["for", "against", "undecided"]},
        "reason": TEXT,
        "speaks_for": many(TEXT),
        "speaks_against": many(TEXT),
    }
    return record(
        {
            "answer": record(answer, optional=set(answer) - {"format"}),
            "extent": extent,
            "country_code": maybe(TEXT),
            "answered_by": TEXT,
            "ended": maybe(TEXT),
            "trouble": maybe(TEXT),
            "model": TEXT,
            "method": TEXT,
            "tools": many(TEXT),
            "spent": record(spent),
            "derived_from": maybe(TEXT),
            "doubts": many(record({"kind": TEXT, "words": TEXT})),
            "granularity": {**TEXT, "enum": list(GRANULARITIES)},
            "allowed_granularity": {
                **TEXT,
                "enum": list(GRANULARITIES),
                "description": "The cap; exact means that nothing was held back. granularity is as coarse as that, and "
                "as the radius.",
            },
            "pool": many({"type": "object"}),
            "trajectory": TEXT,
            "rejected": many(TEXT),
            "photos": many(record(photo, optional=("not_a_photo",))),
            "team": {"type": "object"},
            "check": record(check),
        },
        optional=("team", "check"),
    )
