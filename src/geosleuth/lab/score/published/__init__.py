"""Published figures of the five source papers, for comparison with our own.

One JSON file per paper, facts only: who, which table, which images, which figures. A figure is copied as printed;
where papers contradict themselves, each other or plain arithmetic, the row carries a :class:`Flag` that says so.
Figures with different ``n`` or different splits do not rest on the same images, contrary to what the tables' layout
suggests.

One vocabulary of metrics for all papers (see ``METRICS``):

=================================== =============================================================================
``acc@<km>km``                      percent of images whose answer lies within that distance, ``acc@0.5km`` ...
``median_km``                       median distance of the answers
``geoscore``                        mean GeoScore, 0 to 5000
``country``, ``province``, ``city`` percent of images with that level right (``province``: province, state or region)
``tokens``                          mean tokens per query, image tokens included
``tool_calls``                      mean tool calls a photo
``response_ms``                     response time
``pass8_images``, ``pass8_percent`` images that all eight tries locate; ``pass0_``: none; ``kept_``: some, not all
=================================== =============================================================================

The papers' own words for distances are mapped to these: smileGeo's accuracy is ``acc@50km``; "city", "region",
"country" and "continent" in GeoAgent's tables are ``acc@25km``, ``acc@200km``, ``acc@750km`` and ``acc@2500km``.
The levels ``country``, ``province`` and ``city`` are names that match, and only GeoVista has them.

``n`` is the number of images that the figures rest on. Some papers leave it vague, and some state a number that
their figures rule out: 33.33 % can be 1 of 3, never 1 of 4. ``n_note`` begins with "stated" or "inferred".
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any

from geosleuth.support.errors import BadInput, DataFault

METRICS: Mapping[str, str] = MappingProxyType(
    {
        "acc@<km>km": "percent of images with an answer within so many km",
        "median_km": "median distance of the answers, km",
        "geoscore": "mean GeoScore, 0 to 5000",
        "country": "percent of images with the right country",
        "province": "percent of images with the right province, state or region",
        "city": "percent of images with the right city",
        "tokens": "mean tokens a query, image tokens included",
        "tool_calls": "mean tool calls a photo",
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

PAPER_KEYS = ("smilegeo", "geoagent", "spotagent", "geovista", "twm")


def canonical_dataset(name: str) -> str | None:
    """Return our name for a data set, or None if no paper here has it; case, spaces and punctuation are ignored."""
    wanted = _fold_name(name)
    for canonical, spellings in DATASETS.items():
        if wanted in (_fold_name(spelling) for spelling in (canonical, *spellings)):
            return canonical
    return None


def is_metric(name: str) -> bool:
    """Return whether a name belongs to the vocabulary, ``acc@25km`` and the like included."""
    return threshold_km(name) is not None or (name in METRICS and "<" not in name)


def threshold_km(metric: str) -> float | None:
    """Return the distance in ``acc@<km>km``; None for every other metric."""
    match = _ACCURACY.fullmatch(metric)
    return float(match[1]) if match else None


def _fold_name(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


@dataclass(frozen=True, slots=True)
class Flag:
    """A note that a published figure is wrong, contradictory or easily misread."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One system's figures on one split of one data set.

    ``system`` is the name as printed, without citation marks; ``setting`` distinguishes rows of the same name. A value
    is None where the paper prints a dash (or where a flag says that the figure is missing). ``n`` is the number of
    images, None if unknown; ``n_note`` begins with "stated" or "inferred" and says from what.
    """

    paper: str
    table: int
    dataset: str
    split: str
    system: str
    setting: str
    group: str
    n: int | None
    n_note: str
    values: Mapping[str, float | None] = field(hash=False)
    flags: tuple[Flag, ...]
    source: str


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """One table, or one figure that prints its numbers, of a paper: what it measures, in which units, and its rows."""

    number: int
    measures: str
    units: str
    rows: tuple[PublishedRow, ...]


@dataclass(frozen=True, slots=True)
class Paper:
    """One source paper. ``identifier`` is given only if the paper's own text prints one."""

    key: str
    short_name: str
    title: str
    authors: str
    year: int
    year_note: str
    identifier: str | None
    tables: tuple[PublishedTable, ...]
    flags: tuple[Flag, ...]

    @property
    def rows(self) -> tuple[PublishedRow, ...]:
        """Return the rows of all its tables."""
        return tuple(row for table in self.tables for row in table.rows)


def papers() -> tuple[Paper, ...]:
    """Return the five source papers with their tables, in a fixed order; read once."""
    return _load_shipped()


def list_published_rows(
    *, dataset: str | None = None, paper: str | None = None, table: int | None = None, metric: str | None = None
) -> tuple[PublishedRow, ...]:
    """Return the published rows that match every filter given, in printed order.

    Args:
        dataset: a data set's name in any case or spelling that the papers use. An unknown set gives no rows.
        paper: a paper's key or short name in any case, such as ``twm``.
        table: a table's or a figure's number.
        metric: keep only rows that have a figure for this metric; dashes don't count.

    Raises:
        BadInput: the paper or the metric is unknown.
    """
    if metric is not None and not is_metric(metric):
        raise BadInput(f"unknown metric {metric!r}; use one of: {', '.join(METRICS)}")
    wanted = papers() if paper is None else (_paper_called(paper),)
    name = None if dataset is None else canonical_dataset(dataset)
    return tuple(
        row
        for each in wanted
        for row in each.rows
        if (dataset is None or row.dataset == name)
        and (table is None or row.table == table)
        and (metric is None or row.values.get(metric) is not None)
    )


def read_papers(folder: Traversable) -> tuple[Paper, ...]:
    """Read one JSON file per paper from a folder; a DataFault names the file in which something is wrong.

    A flag is defined once, in one file, and rows of any file may carry it: some papers contradict each other.
    """
    documents = {key: _read_table_document(folder, key) for key in PAPER_KEYS}
    flags: dict[str, Flag] = {}
    for key, document in documents.items():
        for flag_id, text in document.get("flags", {}).items():
            if flag_id in flags:
                raise DataFault(f"{key}.json defines the flag {flag_id!r} a second time")
            flags[flag_id] = Flag(flag_id, text)
    return tuple(_paper(key, document, flags) for key, document in documents.items())


@cache
def _load_shipped() -> tuple[Paper, ...]:
    return read_papers(files(__package__))


def _paper_called(name: str) -> Paper:
    for paper in papers():
        if name.casefold() in (paper.key, paper.short_name.casefold()):
            return paper
    raise BadInput(f"unknown paper {name!r}; use one of: {', '.join(PAPER_KEYS)}")


def _read_table_document(folder: Traversable, key: str) -> dict[str, Any]:
    try:
        document = json.loads((folder / f"{key}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataFault(f"the published figures in {key}.json can't be read: {error}") from error
    if not isinstance(document, dict):
        raise DataFault(f"the published figures in {key}.json are not a JSON object")
    return document


def _paper(key: str, document: Mapping[str, Any], flags: Mapping[str, Flag]) -> Paper:
    try:
        short_name = document["short_name"]
        tables = tuple(
            PublishedTable(
                number=table["number"],
                measures=table["measures"],
                units=table["units"],
                rows=tuple(
                    _parse_published_row(
                        key,
                        f"{short_name}, {_get_table_kind(table)} {table['number']}",
                        table["number"],
                        block,
                        row,
                        flags,
                    )
                    for block in table["blocks"]
                    for row in block["rows"]
                ),
            )
            for table in document["tables"]
        )
        own = [flags[flag_id] for flag_id in document["flags"]]
        return Paper(
            key=document["key"],
            short_name=short_name,
            title=document["title"],
            authors=document["authors"],
            year=document["year"],
            year_note=document["year_note"],
            identifier=document.get("identifier"),
            tables=tables,
            flags=_once(own + [flag for table in tables for row in table.rows for flag in row.flags]),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataFault(f"the published figures in {key}.json are damaged: {error!r}") from error


def _get_table_kind(table: Mapping[str, Any]) -> str:
    return "figure" if table.get("figure") else "table"


def _parse_published_row(
    key: str, source: str, table: int, block: Mapping[str, Any], row: Mapping[str, Any], flags: Mapping[str, Flag]
) -> PublishedRow:
    dataset, group = block["dataset"], row["group"]
    if canonical_dataset(dataset) != dataset:
        raise ValueError(f"{dataset!r} is not our name for a data set")
    if group not in GROUPS:
        raise ValueError(f"{group!r} is not a group of systems")
    values = {metric: None if value is None else float(value) for metric, value in row["values"].items()}
    if unknown := [metric for metric in values if not is_metric(metric)]:
        raise ValueError(f"{unknown[0]!r} is not a metric")
    flag_ids = [*block.get("flags", ()), *row.get("flags", ())]
    return PublishedRow(
        paper=key,
        table=table,
        dataset=dataset,
        split=block["split"],
        system=row["system"],
        setting=row.get("setting", ""),
        group=group,
        n=row.get("n", block["n"]),
        n_note=row.get("n_note", block["n_note"]),
        values=MappingProxyType(values),
        flags=_once(flags[flag_id] for flag_id in flag_ids),
        source=source,
    )


def _once(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    return tuple(dict.fromkeys(flags))


__all__ = [
    "METRICS",
    "Flag",
    "Paper",
    "PublishedRow",
    "PublishedTable",
    "canonical_dataset",
    "list_published_rows",
    "papers",
    "read_papers",
]
