"""The tool `moon_phase`: how much of the moon is lit on a day."""

from datetime import date
from math import cos, pi
from typing import Literal, TypedDict

from geosleuth.support.errors import BadInput
from geosleuth.tools import Case, Output, Viewer, tool

NEW_MOON = date(2000, 1, 6)
MONTH_DAYS = 29.530588


class Moon(TypedDict):
    """What comes back: clients of the MCP server read its schema before they call."""

    date: str
    lit: float
    phase: Literal["waxing", "waning"]


@tool(
    "moon_phase",
    use="check whether the moon in a night photo fits the date that it claims",
    result=Moon,
    viewer=Viewer("looks up the moon on {day}", lambda data: f"{100 * data['lit']:.0f} % of it is lit"),
)
async def moon_phase(case: Case, day: str) -> Output:  # noqa: ARG001  # every tool takes the case
    """Say how much of the moon is lit on a day, and whether it grows.

    Args:
        day: the day, such as 2024-06-21.
    """
    try:
        age_days = (date.fromisoformat(day) - NEW_MOON).days % MONTH_DAYS
    except ValueError as error:
        raise BadInput(f"{day!r} is no day; write it as 2024-06-21") from error
    lit = round((1 - cos(2 * pi * age_days / MONTH_DAYS)) / 2, 2)
    phase = "waxing" if age_days < MONTH_DAYS / 2 else "waning"
    text = f"On {day} the moon is {phase}, {100 * lit:.0f} % of it lit."
    return Output(text, Moon(date=day, lit=lit, phase=phase), sources=("moon formula",))
