"""Where a photo was really taken. Only scorers and trainers hold one; nothing that answers ever sees it."""

from dataclasses import dataclass

from geosleuth.geo import LatLon


@dataclass(frozen=True, slots=True)
class Truth:
    """The true point and, where the data set names them, the true country, region and city."""

    point: LatLon
    country: str | None = None
    region: str | None = None
    city: str | None = None
