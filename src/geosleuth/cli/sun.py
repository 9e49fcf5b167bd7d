"""``geosleuth sun``: where on Earth a shadow can be, or when it fits a place."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from geosleuth.cli.options import JsonFlag, Overwrite, takes

_Maybe = float | None


@dataclass(frozen=True, kw_only=True)
class SunOptions:
    """The options of ``sun``."""

    time: Annotated[
        str, typer.Argument(metavar="TIME", help="Such as 2024-06-21T14:30Z or +02:00; without a zone, a local clock.")
    ]
    to: Annotated[str, typer.Option(metavar="TIME", help="The end of a range that begins at TIME.")] = ""
    shadow: Annotated[_Maybe, typer.Option(metavar="RATIO", help="Length of the shadow by the object's height.")] = None
    elevation: Annotated[_Maybe, typer.Option(metavar="DEG", help="Height of the sun, instead of a shadow.")] = None
    direction: Annotated[_Maybe, typer.Option(metavar="DEG", help="Bearing that the shadow points to; 90 is east.")] = (
        None
    )
    azimuth: Annotated[_Maybe, typer.Option(metavar="DEG", help="Bearing of the sun, instead of the shadow's.")] = None
    also: Annotated[
        list[str],
        typer.Option(
            metavar="TIME,RATIO", help="Another shadow of the same place: TIME,RATIO or TIME,RATIO,DIRECTION."
        ),
    ] = field(default_factory=list)
    place: Annotated[
        str, typer.Option(metavar="PLACE", help="A name or LAT,LON: say how the sun stands there, and when it fits.")
    ] = ""
    country: Annotated[str, typer.Option(help="Only there; its clocks are used.")] = ""
    tolerance: Annotated[float, typer.Option(metavar="DEG", help="How far off the sun's height may be.")] = 2.0
    direction_tolerance: Annotated[float, typer.Option(metavar="DEG", help="How far off a direction may be.")] = 10.0
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Draw the band on a map: a PNG file."),
    ] = None
    overwrite: Overwrite = False
    as_json: JsonFlag = False


@takes(SunOptions)
def sun(options: SunOptions) -> None:
    """Say where on Earth a shadow can be, or whether and when it fits a place. Offline.

    Examples:

      geosleuth sun 2024-06-21T14:30Z --shadow 0.8

      geosleuth sun 2024-06-21T09:00Z --shadow 1.9 --also 2024-06-21T15:00Z,1.2 --out band.png

      geosleuth sun 2024-06-21T14:30 --shadow 0.8 --place Monaco
    """
    from geosleuth.cli.handlers import sun as work

    work.show_sun(options)
