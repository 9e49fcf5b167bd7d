"""``--check``: what a finding says about a place that somebody claims: for it, against it, or nothing certain."""

from dataclasses import dataclass
from typing import Literal

from geosleuth.agent import conversation_of
from geosleuth.agent.locating import Finding
from geosleuth.answer import Answer
from geosleuth.answer.granularity import cap
from geosleuth.answer.wording import radius_words
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.granular import OfflineGazetteer
from geosleuth.geo import LatLon, distance_km
from geosleuth.names import country_name
from geosleuth.policies.detective import Detective, Reasoning, evidence_line
from geosleuth.text import one_line
from geosleuth.text.numbers import distance

from .plan import Plan

Verdict = Literal["for", "against", "undecided"]
LIKELY, SURE = 0.5, 0.8
"""How probable a finding must be to speak for a place that it holds, and against one that it does not."""

RULED_OUT = 0.05
"""A country that the clues leave less than this of its share beforehand is ruled out."""

_LEAST_KM, _DEFAULT_KM = 1.0, 25.0
_APART = 3.0
_COARSE_KM = 100.0
_LINES = 4


@dataclass(frozen=True, slots=True)
class Checked:
    """The verdict on a claimed place, and why."""

    claimed: LatLon
    verdict: Verdict
    reason: str
    speaks_for: tuple[str, ...] = ()
    speaks_against: tuple[str, ...] = ()


async def check_claim(finding: Finding, plan: Plan, atlas: OfflineAtlas) -> Checked | None:
    """Hold a finding against the claimed place, where there is one.

    Of a capped finding only what may be told is compared, and no evidence is given. The claimed place is compared as it
    was given, and shown as coarsely as the finding.
    """
    if plan.check is None:
        return None
    if finding.granularity != "exact":
        shown = (await cap(Answer(plan.check), finding.granularity, OfflineGazetteer(atlas))).point or plan.check
        verdict, reason = _by_distance(plan.check, finding.answer, coarse=True)
        return Checked(shown, verdict, f"{reason}; it was compared as given, and is shown rounded")
    if isinstance(plan.policy, Detective) and finding.album is not None:
        conversation = conversation_of(
            finding.trajectory.events,
            context=plan.method.context,
            tools=plan.toolset,
            picture=finding.album.__getitem__,
        )
        return _by_clues(plan.check, finding.answer, plan.policy.review(conversation))
    verdict, reason = _by_distance(plan.check, finding.answer)
    return Checked(plan.check, verdict, reason)


def _by_distance(claimed: LatLon, answer: Answer, *, coarse: bool = False) -> tuple[Verdict, str]:
    if answer.point is None:
        return "undecided", "no place was found that it could be held against"
    away_km = distance_km(claimed, answer.point)
    radius_km = max(answer.radius_km or _DEFAULT_KM, _LEAST_KM)
    # One digit: a distance to the metre would tell of a place what its rounding hides.
    away = f"about {radius_words(max(float(f'{away_km:.1g}'), _LEAST_KM))}" if coarse else distance(away_km)
    told = f"it lies {away} from the finding"
    told += "" if answer.radius_km is None else f", whose radius is {radius_words(answer.radius_km)}"
    sure = answer.probability
    if answer.radius_km is not None and answer.radius_km < away_km <= radius_km:
        told += f"; up to {radius_words(_LEAST_KM)} counts as the same place"
    if away_km <= radius_km:
        if radius_km > _COARSE_KM:
            return "undecided", f"{told}: too coarse to say more than that it fits"
        if sure is not None and sure < LIKELY:
            return "undecided", f"{told}, but the finding is not likely itself"
        return "for", told
    if away_km > _APART * radius_km and sure is not None and sure >= SURE:
        return "against", told
    return "undecided", f"{told}, and that is not certain enough to speak against it"


def _by_clues(claimed: LatLon, answer: Answer, reasoning: Reasoning) -> Checked:
    from geosleuth.atlas.borders import Borders
    from geosleuth.clues.prior import country_prior

    verdict, reason = _by_distance(claimed, answer)
    region = Borders.load().at(claimed)
    found = reasoning.found
    near = [one for one in found.candidates if distance_km(one.point, claimed) <= max(one.radius_km, _LEAST_KM)]
    if near:
        parts = max(near, key=lambda one: one.probability).contributions
    else:
        parts = found.country_contributions(region.country) if region else ()
    if verdict == "undecided" and region is not None and found.clues:
        share, before = found.countries.get(region.country, 0.0), country_prior().get(region.country, 0.0)
        if before and share < RULED_OUT * before:
            verdict = "against"
            reason = f"the clues leave {country_name(region.country)} hardly any chance"
    return Checked(
        claimed,
        verdict,
        reason,
        tuple(evidence_line(part.clue) for part in parts if part.speaks_for)[:_LINES],
        tuple(evidence_line(part.clue) for part in reversed(parts) if part.speaks_against)[:_LINES],
    )


def checked_lines(checked: Checked) -> list[str]:
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
