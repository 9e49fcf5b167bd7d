"""The distance thresholds at which accuracy is reported, and the set that each paper uses.

Papers use different names for the same distance, and disagree about answers exactly at the distance; each set states
what its paper does. Our scorer counts an error equal to a threshold as within it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Threshold:
    """A distance within which an answer counts as right, and its common name."""

    km: float
    name: str | None = None
    note: str = ""


def threshold_text(km: float) -> str:
    """Format a threshold for keys and headings: ``0.5``, ``25``.

    Twelve digits keep thresholds distinct that differ by more than one part in 10^11.
    """
    return f"{km:.12g}"


@dataclass(frozen=True, slots=True)
class ThresholdSet:
    """The thresholds of one paper, under its own names."""

    paper: str
    thresholds: tuple[Threshold, ...]
    inclusive: bool | None
    """Whether an answer exactly at the distance counts; None where the paper does not say."""
    source: str

    @property
    def km(self) -> tuple[float, ...]:
        """Return the distances alone, in ascending order."""
        return tuple(threshold.km for threshold in self.thresholds)


# All distances reported in the papers; one has a name only if the literature agrees on it.
THRESHOLDS = (
    Threshold(0.5, note="Thinking with Map: fine"),
    Threshold(1.0, "street"),
    Threshold(2.0, note="Thinking with Map: local"),
    Threshold(3.0, note="GeoVista"),
    Threshold(10.0, note="Thinking with Map: district; also the line between its easy and hard images"),
    Threshold(25.0, "city"),
    Threshold(50.0, note="smileGeo: city"),
    Threshold(200.0, "region"),
    Threshold(750.0, "country"),
    Threshold(2500.0, "continent"),
)

THRESHOLDS_KM = tuple(threshold.km for threshold in THRESHOLDS)
_COMMON_NAMES = {threshold.km: threshold.name for threshold in THRESHOLDS if threshold.name}


def threshold_name(km: float) -> str:
    """Return the common name of a threshold (street, city …), or an empty text."""
    return _COMMON_NAMES.get(km, "")


_CLASSIC = (
    Threshold(1.0, "street"),
    Threshold(25.0, "city"),
    Threshold(200.0, "region"),
    Threshold(750.0, "country"),
    Threshold(2500.0, "continent"),
)

# Thresholds that each paper reports, by a short key for the paper.
THRESHOLD_SETS = {
    "thinking-with-map": ThresholdSet(
        paper="Thinking with Map",
        thresholds=(
            Threshold(0.5, "fine"),
            Threshold(2.0, "local"),
            Threshold(10.0, "district"),
            Threshold(25.0, "city"),
            Threshold(200.0, "region"),
            Threshold(750.0, "country"),
        ),
        inclusive=False,
        source="experiments, evaluation: correct if below the threshold",
    ),
    "spotagent": ThresholdSet(
        paper="SpotAgent",
        thresholds=_CLASSIC,
        inclusive=True,
        source="appendix C, equation 12: correct if at most the threshold",
    ),
    "geoagent": ThresholdSet(
        paper="GeoAgent",
        thresholds=_CLASSIC[1:],
        inclusive=None,
        source="section 5.1, for Im2GPS3k; GeoScore on GeoSeek-Val",
    ),
    "geovista": ThresholdSet(
        paper="GeoVista",
        thresholds=(Threshold(3.0),),
        inclusive=False,
        source="nuanced evaluation: rate below 3 km, beside the median distance",
    ),
    "smilegeo": ThresholdSet(
        paper="smileGeo",
        thresholds=(Threshold(50.0, "city"),),
        inclusive=False,
        source="experiments, evaluation metrics: correct if less than 50 km",
    ),
}
