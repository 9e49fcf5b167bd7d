"""The tables beside this file: one row a line, named columns, bars between the parts of a cell."""

import gzip
from collections.abc import Iterator, Sequence
from importlib.resources import files


def read_table(name: str, columns: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield the rows of a table, each by its columns.

    Raises:
        ValueError: the table has other columns, or a row another number of cells.
    """
    header, *rows = (files(__package__) / "data" / name).read_text(encoding="utf-8").splitlines()
    if header.split("\t") != list(columns):
        raise ValueError(f"{name}: has the columns {header!r}; there must be {', '.join(columns)}")
    for number, row in enumerate(rows, 2):
        cells = row.split("\t")
        if len(cells) != len(columns):
            raise ValueError(f"{name}, line {number}: has {len(cells)} cells; there must be {len(columns)}")
        yield dict(zip(columns, cells, strict=True))


def read_packed_pairs(name: str) -> dict[str, str]:
    """Return a packed table of two columns without names."""
    data = gzip.decompress((files(__package__) / "data" / name).read_bytes())
    return dict(line.split("\t") for line in data.decode("ascii").splitlines())


def parts(cell: str) -> tuple[str, ...]:
    """Return the parts of a cell."""
    return tuple(cell.split(" | ")) if cell else ()


def is_yes(cell: str) -> bool:
    """Return whether a cell says yes, where it must say yes or no."""
    if cell not in ("yes", "no"):
        raise ValueError(f"{cell!r} must be yes or no")
    return cell == "yes"
