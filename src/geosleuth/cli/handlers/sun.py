"""Implementation of ``geosleuth sun``; imported on demand."""

import asyncio
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.text import Text

from geosleuth.cli.handlers.atlas import check_png
from geosleuth.cli.preparation import offline_atlas
from geosleuth.photo import Album
from geosleuth.support.console import show_result
from geosleuth.support.errors import BadInput
from geosleuth.tools import Case, Output
from geosleuth.tools.places import find
from geosleuth.tools.shadows import Shadow, ShadowQuestion, read_shadows
from geosleuth.tools.sun_sight import build_sight

from .resection import write_picture

if TYPE_CHECKING:
    from geosleuth.cli.sun import SunOptions

# Command option for each tool argument, to rename arguments in error messages.
_OPTIONS: Mapping[str, str] = {
    "shadow_ratio": "--shadow",
    "sun_elevation": "--elevation",
    "shadow_direction": "--direction",
    "sun_azimuth": "--azimuth",
    "tolerance_deg": "--tolerance",
    "direction_tolerance_deg": "--direction-tolerance",
    "time and time_end": "TIME and --to",
    "time_end lies before time": "--to lies before TIME",
    "time_end": "--to",
    "or the country": "or --country NAME",
}

_OF_ALSO: Mapping[str, str] = {"shadow_ratio": "RATIO", "shadow_direction": "DIRECTION"}


def show_sun(options: "SunOptions") -> None:
    """Print where a shadow can be, or when it fits a place."""
    if options.out is not None:
        check_png(options.out, overwrite=options.overwrite)
    first = Shadow(
        options.time, options.to, options.shadow, options.elevation, options.direction, options.azimuth
    )  # fmt: skip
    shadows = [first, *(_also(item, options) for item in options.also)]
    case = Case(Album(), offline_atlas())
    try:
        found = asyncio.run(_find_sun_places(case, options, shadows))
    except BadInput as error:
        raise BadInput(_rename_arguments(str(error), _OPTIONS)) from error
    if options.out is not None:
        write_picture(found, options.out, "no map: there is no band to draw")
    show_result(
        found.data | {"file": None if options.out is None else str(options.out)},
        Text(found.text),
        as_json=options.as_json,
    )


async def _find_sun_places(case: Case, options: "SunOptions", shadows: list[Shadow]) -> Output:
    place = await find(case, options.place, "place") if options.place.strip() else None
    question = ShadowQuestion(
        shadows,
        place=None if place is None else place.point,
        name="" if place is None else place.name,
        country=options.country,
        tolerance_deg=options.tolerance,
        direction_tolerance_deg=options.direction_tolerance,
        picture=options.out is not None,
    )
    return await read_shadows(case, question)


def _rename_arguments(complaint: str, names: Mapping[str, str]) -> str:
    """Return a complaint of the tool with its arguments called as the command calls them."""
    return re.sub(rf"\b({'|'.join(names)})\b", lambda found: names[found[0]], complaint)


def _also(text: str, options: "SunOptions") -> Shadow:
    """Another shadow: TIME,RATIO or TIME,RATIO,DIRECTION."""
    time, *figures = (part.strip() for part in text.split(","))
    try:
        ratio, direction = float(figures[0]), float(figures[1]) if len(figures) > 1 else None
    except (IndexError, ValueError) as error:
        raise BadInput(f"--also {text[:60]!r}: write TIME,RATIO such as 2024-06-21T15:00Z,1.2") from error
    try:
        build_sight(ratio, None, direction, None, options.tolerance, options.direction_tolerance)
    except BadInput as error:
        raise BadInput(f"--also {text[:60]!r}: {_rename_arguments(str(error), {**_OPTIONS, **_OF_ALSO})}") from error
    return Shadow(time, ratio=ratio, direction_deg=direction)
