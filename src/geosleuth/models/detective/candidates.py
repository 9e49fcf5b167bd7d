"""The candidates of an answer, best first, also where a person has ruled out the answer."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from geosleuth.evidence import Clue
from geosleuth.evidence.decision import STATED_KINDS, says_more
from geosleuth.evidence.heartlands import heartland
from geosleuth.evidence.posterior import Contribution, PlaceCandidate, Posterior
from geosleuth.evidence.text_clue import specify_country
from geosleuth.geo import LatLon, distance_km
from geosleuth.names import country_name, fold

from .evidence import evidence_line
from .reasoning import Reasoning

MAX_RIVALS = 4
MIN_PROBABILITY = 0.03
# Minimum probability of listed candidates if a finding names no place: anything less is noise that reads like a lead.
MIN_WHEN_SILENT = 0.05

# Minimum probability of listed candidates if signs disagree: what the weaker sign points to is worth a line as well.
MIN_WHERE_DISPUTED = 0.01

# Minimum log ratio at which the driving side makes a country a candidate: most of the world keeps right.
MIN_STATED: Final = 0.5

_APART = 1.5
_MIN_APART_KM = 1.0
_LINES = 4


@dataclass(frozen=True, slots=True)
class RankedPlace:
    """A place that it could be; ``country`` is an ISO code, the probability calibrated as the answer's is.

    ``only_hinted`` is whether a hint speaks for it and nothing that was read well enough: then its probability is only
    how often hints are right.
    """

    name: str
    point: LatLon | None
    radius_km: float | None
    probability: float
    country: str | None
    evidence_for: tuple[str, ...]
    evidence_against: tuple[str, ...]
    only_hinted: bool = False


def rivals(reasoning: Reasoning) -> list[RankedPlace]:
    """Return the candidates, the likeliest first; countries where the clues allow nothing finer."""
    decision = reasoning.decision
    if decision.level == "none":
        # A user who has ruled places out, or had a prior asked, wants to see what is left.
        asked = reasoning.known.rules_out or any(True for _ in reasoning.notebook.find_calls("visual_prior"))
        least = 0.0 if asked else MIN_WHEN_SILENT
        workings = reasoning.full_posterior.workings
        worth_a_look = [
            country
            for country in _rank_countries(reasoning, 1.0, reasoning.at_best)
            if country.probability >= least and says_more(workings, country.country or "", country.probability)
        ]
        return sorted(worth_a_look, key=lambda item: item.only_hinted)
    best = RankedPlace(
        full_name(decision.name or "", decision.country),
        decision.point,
        decision.radius_km,
        reasoning.probability,
        decision.country,
        *_sides(decision.contributions, decision.country, None if decision.level == "country" else decision.point),
    )
    left, left_raw = 1 - reasoning.probability, max(1 - decision.probability_raw, 1e-6)
    share = left / left_raw if left_raw > 1e-6 else 0.0
    if reasoning.odds_among_photos == 1.0:
        share = min(1.0, share)
    if decision.level == "country":
        return [
            best,
            *(country for country in _rank_countries(reasoning, share) if country.country != decision.country),
        ][:MAX_RIVALS]
    return [best, *_rank_places(reasoning, share)][:MAX_RIVALS]


def full_name(name: str, country: str | None) -> str:
    """A place with its country, unless it is the country or names it already."""
    if country is None:
        return name
    of_country = country_name(country)
    return name if not name or fold(of_country) in fold(name) else f"{name}, {of_country}"


def _rank_places(reasoning: Reasoning, share: float) -> list[RankedPlace]:
    decision = reasoning.decision
    kept: list[RankedPlace] = []
    least = MIN_WHERE_DISPUTED if reasoning.self_test_result.conflicting_signs else MIN_PROBABILITY
    taken = [(decision.point, max(_MIN_APART_KM, _APART * (decision.radius_km or 0.0)))]
    for candidate in reasoning.full_posterior.candidates:
        if candidate.probability * share < least or len(kept) >= MAX_RIVALS:
            break
        if any(point is not None and distance_km(point, candidate.point) <= reach for point, reach in taken):
            continue
        taken.append((candidate.point, max(_MIN_APART_KM, _APART * candidate.radius_km)))
        name = full_name(candidate.name, candidate.country)
        kept.append(
            RankedPlace(
                name,
                candidate.point,
                candidate.radius_km,
                candidate.probability * share,
                candidate.country,
                *_sides(candidate.contributions, candidate.country, candidate.point),
            )
        )
    for code, probability in reasoning.full_posterior.elsewhere.items():
        if probability * share < least or len(kept) >= MAX_RIVALS:
            break
        rival = _build_country(reasoning, code, probability * share)
        if code != decision.country and all(item.country != code for item in kept) and rival.evidence_for:
            kept.append(rival)
    return sorted(kept, key=lambda item: -item.probability)


def _rank_countries(reasoning: Reasoning, share: float, weighed: Posterior | None = None) -> list[RankedPlace]:
    found = weighed or reasoning.full_posterior
    likely = [(code, p * share) for code, p in list(found.countries.items())[: MAX_RIVALS + 1]]
    listed = [
        _build_country(reasoning, code, p, found)
        for code, p in likely
        if p >= MIN_PROBABILITY and _is_lead(found.country_contributions(code))
    ]
    return [item for item in listed if item.evidence_for and _writes_so(reasoning, item, found)][:MAX_RIVALS]


def _is_lead(parts: Iterable[Contribution]) -> bool:
    """Return whether a clue makes a country a candidate, rather than its population or daylight alone."""
    return any(
        part.speaks_for
        and part.clue.kind != "sun"
        and (part.clue.kind != "driving_side" or part.log_ratio >= MIN_STATED)
        for part in parts
    )


def _only_hinted(clues: Iterable[Clue]) -> bool:
    kinds = {clue.kind for clue in clues}
    return not kinds or ("hint" in kinds and kinds <= STATED_KINDS)


def _writes_so(reasoning: Reasoning, place: RankedPlace, found: Posterior) -> bool:
    """Return whether the country writes the scripts of all doubtful lines, where these count."""
    parts = found.country_contributions(place.country or "") if found is not reasoning.full_posterior else ()
    return not any(part.speaks_against and part.clue in reasoning.doubtful_script_clues for part in parts)


def _build_country(
    reasoning: Reasoning, code: str, probability: float, weighed: Posterior | None = None
) -> RankedPlace:
    land = heartland(code, reasoning.known.within)
    parts = (weighed or reasoning.full_posterior).country_contributions(code)
    point, radius_km = (land.point, land.radius_km) if land else (None, None)
    # What is weighed beside what was found has lines in it that are read too poorly to count.
    counted = reasoning.full_posterior.country_contributions(code)
    hinted = _only_hinted(part.clue for part in counted if part.speaks_for)
    return RankedPlace(country_name(code), point, radius_km, probability, code, *_sides(parts, code), hinted)


def _sides(
    parts: Iterable[Contribution], country: str | None, point: LatLon | None = None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what supports and what contradicts a place, in a few lines each, the strongest first."""
    ordered = list(parts)
    telling = [part.clue for part in ordered if part.speaks_for]
    speaks_for = [evidence_line(specify_country(clue, country, point) if country else clue) for clue in telling]
    against = [evidence_line(part.clue) for part in reversed(ordered) if part.speaks_against]
    return tuple(speaks_for[:_LINES]), tuple(against[:_LINES])


def standing(reasoning: Reasoning) -> list[RankedPlace]:
    """Return the candidates, the likeliest first.

    Where a person has ruled out the best place, the next ones come up, however unlikely they are: a user who ruled out
    one wants to see them, and not only the countries that they are in.
    """
    listed = rivals(reasoning)
    if reasoning.decision.level != "none" or not reasoning.known.rules_out:
        return listed
    places: dict[str, RankedPlace] = {}
    for candidate in reasoning.full_posterior.candidates:
        if candidate.probability < MIN_PROBABILITY or len(places) >= MAX_RIVALS:
            break
        places.setdefault(full_name(candidate.name, candidate.country), _build_ranked_place(candidate))
    taken = {place.country for place in places.values()}
    others = [item for item in listed if item.country not in taken]
    return sorted([*places.values(), *others], key=lambda place: (place.only_hinted, -place.probability))[:MAX_RIVALS]


def compute_odds(reasoning: Reasoning) -> dict[str, float]:
    """Return the probability of each place by its full name, also of those too unlikely to be listed."""
    odds: dict[str, float] = {}
    for candidate in reasoning.full_posterior.candidates:
        name = full_name(candidate.name, candidate.country)
        odds[name] = odds.get(name, 0.0) + candidate.probability
    return {**odds, **{item.name: item.probability for item in standing(reasoning)}}


def _build_ranked_place(candidate: PlaceCandidate) -> RankedPlace:
    sides = [
        tuple(
            evidence_line(specify_country(clue, candidate.country, candidate.point) if candidate.country else clue)
            for clue in clues[:_LINES]
        )
        for clues in (candidate.supporting, candidate.contradicting)
    ]
    name, hinted = full_name(candidate.name, candidate.country), _only_hinted(candidate.supporting)
    return RankedPlace(
        name, candidate.point, candidate.radius_km, candidate.probability, candidate.country, sides[0], sides[1], hinted
    )
