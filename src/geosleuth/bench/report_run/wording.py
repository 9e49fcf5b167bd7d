"""How the figures of a run are written, the same on the page and at the terminal."""

from collections.abc import Mapping
from math import isnan

from geosleuth.bench.run.model import Outcome
from geosleuth.text.numbers import NONE

from .costs import COST, SECONDS, Measure

OUTCOME_WORDS: Mapping[Outcome, str] = {"answered": "answered", "failed": "failed", "interrupted": "cut off"}
REASON_WORDS = {
    "answered": "the model answered",
    "turns": "its turns were spent",
    "calls": "its calls were spent",
    "tokens": "its tokens were spent",
    "seconds": "its time was spent",
    "money": "its money was spent",
    "stuck": "it kept saying nothing of use",
    "service": "the model's server failed",
    "cancelled": "called off",
    "error": "something broke",
}
ANSWERER_WORDS = {
    "policy": "the model itself",
    "pool": "its best candidate, since it gave no answer",
    "nobody": "nobody",
}


def amount(measure: Measure, value: float) -> str:
    """A value without its unit, with no more digits than it carries."""
    if isnan(value):
        return NONE
    if measure == COST:
        return money(value)
    if value >= 1000 or measure.key.endswith("tokens") or (value == round(value) and measure != SECONDS):
        return f"{value:,.0f}"
    return f"{value:.1g}" if 0 < value < 0.05 else f"{value:.1f}"


def money(usd: float) -> str:
    """US dollars without the sign: four decimals below one, for a photo costs a fraction of a cent."""
    if isnan(usd):
        return NONE
    if usd < 0.00005:
        return "< 0.0001" if usd > 0 else "0"
    return f"{usd:,.4f}" if usd < 1 else f"{usd:,.2f}"


def with_unit(measure: Measure, value: float) -> str:
    """A value with its unit."""
    written = amount(measure, value)
    return f"{written} {measure.unit}".rstrip() if written != NONE else NONE


def heading(measure: Measure) -> str:
    """What a column of the measure is called."""
    return f"{measure.words}, {measure.unit}" if measure.unit and measure.words != "seconds" else measure.words


def share(part: int, whole: int) -> str:
    """A share in percent, with its sign."""
    return NONE if not whole else f"{100 * part / whole:.1f} %"
