"""Reading the published figures that ship with the package."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any

from geosleuth.errors import BadInput, DataFault

from .model import Flag, Paper, PublishedRow, PublishedTable
from .vocabulary import GROUPS, METRICS, canonical_dataset, is_metric

PAPER_KEYS = ("smilegeo", "geoagent", "spotagent", "geovista", "twm")


def papers() -> tuple[Paper, ...]:
    """The five source papers with their tables, in a fixed order; read once."""
    return _shipped()


def published_rows(
    *, dataset: str | None = None, paper: str | None = None, table: int | None = None, metric: str | None = None
) -> tuple[PublishedRow, ...]:
    """The published rows that match every filter given, in printed order.

    Args:
        dataset: a data set's name in any case or spelling that the papers use. A set that no paper has gives no rows.
        paper: a paper's key or short name in any case, such as ``twm``.
        table: a table's number.
        metric: keep only rows that have a figure for this metric; dashes don't count.

    Raises:
        BadInput: there is no such paper, or no such metric in the vocabulary.
    """
    if metric is not None and not is_metric(metric):
        raise BadInput(f"no metric is called {metric!r}; use one of: {', '.join(METRICS)}")
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
    """Read one JSON file a paper from a folder; anything amiss in them is a DataFault that names the file.

    A flag is defined once, in one file, and rows of any file may carry it: some papers contradict each other.
    """
    documents = {key: _document(folder, key) for key in PAPER_KEYS}
    flags: dict[str, Flag] = {}
    for key, document in documents.items():
        for flag_id, text in document.get("flags", {}).items():
            if flag_id in flags:
                raise DataFault(f"{key}.json defines the flag {flag_id!r} a second time")
            flags[flag_id] = Flag(flag_id, text)
    return tuple(_paper(key, document, flags) for key, document in documents.items())


@cache
def _shipped() -> tuple[Paper, ...]:
    return read_papers(files(__package__))


def _paper_called(name: str) -> Paper:
    for paper in papers():
        if name.casefold() in (paper.key, paper.short_name.casefold()):
            return paper
    raise BadInput(f"no paper is called {name!r}; use one of: {', '.join(PAPER_KEYS)}")


def _document(folder: Traversable, key: str) -> dict[str, Any]:
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
                    _row(key, f"{short_name}, table {table['number']}", table["number"], block, row, flags)
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


def _row(
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
