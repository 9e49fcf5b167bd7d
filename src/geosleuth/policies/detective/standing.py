"""The candidates as they stand, also where a person has ruled out the answer and nothing else is likely enough."""

from geosleuth.clues.finding import said_of
from geosleuth.clues.posterior import Candidate

from .evidence import evidence_line
from .reasoning import Reasoning
from .rivals import LEAST_PROBABILITY, MOST_RIVALS, Rival, full_name, rivals

_LINES = 4


def standing(reasoning: Reasoning) -> list[Rival]:
    """What it could be, the likeliest first.

    Where a person has ruled out the best place, the next ones come up, however unlikely they are: whoever has ruled out
    one wants to see them, and not only the countries that they are in.
    """
    listed = rivals(reasoning)
    if reasoning.decision.level != "none" or not reasoning.known.rules_out:
        return listed
    places: dict[str, Rival] = {}
    for one in reasoning.found.candidates:
        if one.probability < LEAST_PROBABILITY or len(places) >= MOST_RIVALS:
            break
        places.setdefault(full_name(one.name, one.country), _place(one))
    taken = {one.country for one in places.values()}
    others = [one for one in listed if one.country not in taken]
    return sorted([*places.values(), *others], key=lambda one: -one.probability)[:MOST_RIVALS]


def odds_of(reasoning: Reasoning) -> dict[str, float]:
    """How likely each place is by its full name, also such as are too unlikely to be listed."""
    odds: dict[str, float] = {}
    for one in reasoning.found.candidates:
        name = full_name(one.name, one.country)
        odds[name] = odds.get(name, 0.0) + one.probability
    return {**odds, **{one.name: one.probability for one in standing(reasoning)}}


def _place(one: Candidate) -> Rival:
    sides = [
        tuple(evidence_line(said_of(clue, one.country, one.point) if one.country else clue) for clue in clues[:_LINES])
        for clues in (one.supporting, one.contradicting)
    ]
    return Rival(
        full_name(one.name, one.country), one.point, one.radius_km, one.probability, one.country, sides[0], sides[1]
    )
