"""The names that published rows are made of: metrics, groups of systems, data sets."""

import re
from collections.abc import Mapping
from types import MappingProxyType

METRICS: Mapping[str, str] = MappingProxyType(
    {
        "acc@<km>km": "percent of images with an answer within so many km",
        "median_km": "median distance of the answers, km",
        "geoscore": "mean GeoScore, 0 to 5000",
        "country": "percent of images with the right country",
        "province": "percent of images with the right province, state or region",
        "city": "percent of images with the right city",
        "tokens": "mean tokens a query, image tokens included",
        "response_ms": "response time, ms",
        "pass8_images": "images that all of eight tries locate",
        "pass8_percent": "the same, percent of all images",
        "pass0_images": "images that none of eight tries locates",
        "pass0_percent": "the same, percent of all images",
        "kept_images": "images that some, not all, of eight tries locate",
        "kept_percent": "the same, percent of all images",
    }
)

GROUPS: Mapping[str, str] = MappingProxyType(
    {
        "closed": "general model behind an API",
        "open": "model with open weights, as the paper groups it",
        "retrieval": "looks the photo up in a gallery of placed photos",
        "specialist": "trained for geolocation, no gallery",
        "framework": "several general models at work together",
        "own": "the paper's own system",
        "ablation": "the paper's own system with a part changed or left out",
        "oracle": "the best of several runs, chosen with the truth in hand",
        "statistic": "counts, not a system",
    }
)

# Our name for each data set, and the other spellings that the papers use for it.
DATASETS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "GeoBench": (),
        "GeoGlobe": (),
        "GeoSeek-Val": (),
        "IMAGEO-2": ("IMAGEO-2-test",),
        "Im2GPS3k": (),
        "MAPBench": ("MAPBench-test-all", "AMAP-test-all", "MAPBench_V1"),
        "MAPBench-easy": ("MAPBench-test-easy",),
        "MAPBench-hard": ("MAPBench-test-hard",),
        "MP16-Pro": (),
        "Street View Text": ("SVT", "Street View Text Dataset"),
        "YFCC4k": (),
    }
)

_ACCURACY = re.compile(r"acc@(\d+(?:\.\d+)?)km")


def canonical_dataset(name: str) -> str | None:
    """Our name for a data set, or None where no paper here has it; case, spaces and punctuation don't matter."""
    wanted = _folded(name)
    for canonical, spellings in DATASETS.items():
        if wanted in (_folded(spelling) for spelling in (canonical, *spellings)):
            return canonical
    return None


def is_metric(name: str) -> bool:
    """Whether a name belongs to the vocabulary, ``acc@25km`` and the like included."""
    return threshold_km(name) is not None or (name in METRICS and "<" not in name)


def threshold_km(metric: str) -> float | None:
    """The distance in ``acc@<km>km``; None for every other metric."""
    match = _ACCURACY.fullmatch(metric)
    return float(match[1]) if match else None


def _folded(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())
