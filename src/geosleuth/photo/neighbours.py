"""The nearest photo in time whose own file has a place: a lead on where its neighbour was taken, and no sight of it.

Only photos of the same camera are neighbours, since clocks differ, and only within an hour. How far one may have come
in the meantime is the radius.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from geosleuth.geo import LatLon

LONGEST_GAP = timedelta(hours=1)
_STANDING_KM, _KM_AN_HOUR = 0.3, 60.0


@dataclass(frozen=True, slots=True)
class Moment:
    """Time and camera of a photo, and the place that its file has, if it is no estimate."""

    taken_at: datetime
    camera: str
    point: LatLon | None = None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A neighbour: its name, how much later it was taken (earlier: negative), its place, the radius by the gap."""

    name: str
    later: timedelta
    point: LatLon
    radius_km: float

    @property
    def minutes(self) -> int:
        """Return how many minutes later it was taken, at least one; negative if earlier."""
        size = max(1, round(abs(self.later) / timedelta(minutes=1)))
        return -size if self.later < timedelta(0) else size

    @property
    def words(self) -> str:
        """Return the description for people, on one line."""
        when = "before" if self.minutes < 0 else "after"
        return (
            f"A lead by time, not by sight: {self.name}, taken {abs(self.minutes)} min {when} it with the same camera, "
            f"has the place {self.point.lat:.4f}, {self.point.lon:.4f}; one gets up to {self.radius_km:.1f} km in that "
            "time."
        )


def nearest_in_time(moments: Mapping[str, Moment]) -> dict[str, Neighbour]:
    """Return for each photo without a place of its own the located one that is nearest in time, if one is near."""
    located: dict[tuple[str, bool], list[tuple[datetime, str, LatLon]]] = {}
    for name, item in moments.items():
        if item.point is not None:
            located.setdefault(_clock(item), []).append((item.taken_at, name, item.point))
    for rows in located.values():
        rows.sort(key=lambda row: row[:2])
    found = {}
    for name, item in moments.items():
        rows = located.get(_clock(item), []) if item.point is None and item.camera else []
        at = bisect_left(rows, item.taken_at, key=lambda row: row[0])
        near = min(_beside(rows, at), key=lambda row: abs(row[0] - item.taken_at), default=None)
        if near is not None and abs(near[0] - item.taken_at) <= LONGEST_GAP:
            later = near[0] - item.taken_at
            radius_km = _STANDING_KM + _KM_AN_HOUR * (abs(later) / timedelta(hours=1))
            found[name] = Neighbour(near[1], later, near[2], round(radius_km, 1))
    return found


def _clock(moment: Moment) -> tuple[str, bool]:
    """Return what times can be compared by: the camera, and whether it names its time zone."""
    return moment.camera, moment.taken_at.tzinfo is not None


def _beside(rows: list[tuple[datetime, str, LatLon]], at: int) -> Iterable[tuple[datetime, str, LatLon]]:
    return rows[max(0, at - 1) : at + 1]
