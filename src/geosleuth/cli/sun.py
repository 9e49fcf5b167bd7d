"""``geosleuth sun``: where on Earth a shadow can be, or when it fits a place."""

from pathlib import Path

from geosleuth.cli.options import WritingOptions, argument, option

_Maybe = float | None


class SunOptions(WritingOptions):
    """The options of ``sun``."""

    time: str = argument("Such as 2024-06-21T14:30Z or +02:00; without a zone, a local clock.", metavar="TIME")
    to: str = option("", "The end of a range that begins at TIME.", metavar="TIME")
    shadow: _Maybe = option(None, "Length of the shadow by the object's height.", metavar="RATIO")
    elevation: _Maybe = option(None, "Height of the sun, instead of a shadow.", metavar="DEG")
    direction: _Maybe = option(None, "Bearing that the shadow points to; 90 is east.", metavar="DEG")
    azimuth: _Maybe = option(None, "Bearing of the sun, instead of the shadow's.", metavar="DEG")
    also: list[str] = option(
        [], "Another shadow of the same place: TIME,RATIO or TIME,RATIO,DIRECTION.", metavar="TIME,RATIO"
    )
    place: str = option("", "A name or LAT,LON: say how the sun stands there, and when it fits.", metavar="PLACE")
    country: str = option("", "Only there; its clocks are used.")
    tolerance: float = option(2.0, "How far off the sun's height may be.", metavar="DEG")
    direction_tolerance: float = option(10.0, "How far off a direction may be.", metavar="DEG")
    out: Path | None = option(None, "Draw the band on a map: a PNG file.", "--out", "-o", metavar="FILE")


def sun(options: SunOptions) -> None:
    """Say where on Earth a shadow can be, or whether and when it fits a place. Offline.

    Examples:

      geosleuth sun 2024-06-21T14:30Z --shadow 0.8

      geosleuth sun 2024-06-21T09:00Z --shadow 1.9 --also 2024-06-21T15:00Z,1.2 --out band.png

      geosleuth sun 2024-06-21T14:30 --shadow 0.8 --place Monaco
    """
    from geosleuth.cli.handlers import sun as work

    work.show_sun(options)
