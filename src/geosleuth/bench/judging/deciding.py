"""What the rule can say of a level, and the question that is left where it can't say anything.

The rule says yes where it knows that two names mean one place. Its no is of two kinds. It has proof: two countries with
codes of their own, two regions of its list, two large cities far apart, or a level above that is wrong already. Or it
just does not know one of the names: then the level is undecided, and that is what a judge is for.
"""

from dataclasses import dataclass, replace
from typing import Literal

from geosleuth.names import country_code, fold
from geosleuth.names.cities import is_far_city
from geosleuth.names.regions import is_listed_region
from geosleuth.score import AnswerNames, TruthNames, match_levels
from geosleuth.score.levels import NO_NAME
from geosleuth.text import printable

Level = Literal["country", "region", "city"]
RuleSays = Literal["right", "wrong", "undecided", "not named", "not given"]
"""Of one level: the names agree; it has proof that they don't; it can't tell; the answer or the truth has none."""

_ANSWER_FIELD = {"country": "country", "region": "region", "city": "precise"}
_MOST_CHARS = 160


@dataclass(frozen=True, slots=True)
class Question:
    """Do these two names mean the same country, region or city? Texts are on one line and cut to length.

    ``country`` and ``region`` say where the true place lies, as far as that is above the level in question.
    """

    level: Level
    truth: str
    answer: str
    country: str | None = None
    region: str | None = None


@dataclass(frozen=True, slots=True)
class Stand:
    """What the rule says of a level, and the question about it where both names are there to ask about.

    A question comes with "right", "undecided" and with a "wrong" that this level itself gave proof of.
    """

    says: RuleSays
    question: Question | None = None


def stand(truth: TruthNames, said: AnswerNames, level: Level) -> Stand:
    """What the rule can say of one level."""
    verdict: bool | None = getattr(match_levels(truth, said), level)
    if verdict is None:
        return Stand("not given")
    name = _given(getattr(said, _ANSWER_FIELD[level]))
    question = _question(truth, said, level, name) if name else None
    if verdict:
        return Stand("right", question)
    if question is None or name is None:
        return Stand("not named")
    if not getattr(match_levels(truth, granted(truth, said, level)), level):
        # A level above is wrong: whatever this name means, it can't make the level right.
        return Stand("wrong")
    return Stand("wrong" if _proved(truth, said, level, name) else "undecided", question)


def granted(truth: TruthNames, said: AnswerNames, level: Level) -> AnswerNames:
    """The answer as if one level's name were the true one; what is right already stays right."""
    if level != "city":
        return replace(said, **{level: getattr(truth, level)})
    so_far = match_levels(truth, said)
    # An address may hold country and region; these must not get lost, and a region in it that is wrong must count.
    return AnswerNames(
        truth.country if so_far.country else said.country,
        truth.region if so_far.region else said.region,
        f"{truth.city}, {said.precise}",
    )


def _given(name: str | None) -> str | None:
    return None if name is None or fold(name) in NO_NAME else name


def _question(truth: TruthNames, said: AnswerNames, level: Level, name: str) -> Question:
    country = None if level == "country" else truth.country or said.country
    region = truth.region if level == "city" else None
    return Question(level, _tidy(getattr(truth, level)), _tidy(name), _tidied(country), _tidied(region))


def _tidied(name: str | None) -> str | None:
    return None if name is None else _tidy(name)


def _tidy(name: str) -> str:
    """On one line, without control characters, no longer than any name of a place."""
    whole = printable(" ".join(name.split())).encode("utf-8", "replace").decode("utf-8")
    return whole if len(whole) <= _MOST_CHARS else f"{whole[:_MOST_CHARS]}…"


def _proved(truth: TruthNames, said: AnswerNames, level: Level, name: str) -> bool:
    """Whether the rule knows both names, and that they mean two places."""
    context = truth.country or said.country
    true_name: str = getattr(truth, level)
    if level == "country":
        return country_code(true_name) is not None and country_code(name) is not None
    if level == "region":
        return is_listed_region(true_name, context) and is_listed_region(name, context)
    # Both ways round: the function takes a city that it does not know for far from every other.
    finest = name.partition(",")[0]
    return is_far_city(finest, true_name, context) and is_far_city(true_name, finest, context)
