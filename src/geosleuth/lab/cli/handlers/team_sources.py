"""The photos of a ``team`` command: a folder, a table, or any data set that ``bench run`` opens."""

from pathlib import Path

from geosleuth.lab.bench.sets import CARDS, open_set
from geosleuth.lab.teams.learning.learning import Source, read_sources
from geosleuth.support.errors import BadInput


def sources_of(dataset: Path) -> list[Source]:
    """Return the photos of ``NAME:PATH`` (also ``NAME@gcj02:PATH`` and ``NAME:PATH::PHOTOS``), a folder or a table.

    Raises:
        BadInput: there are none, or they are not files of their own.
    """
    spec = str(dataset)
    name = spec.partition(":")[0].partition("@")[0].strip().lower()
    if ":" not in spec or name not in CARDS or dataset.exists():
        return read_sources(dataset)
    found = []
    for item in open_set(spec):
        path = Path(item.picture.where)
        if not path.is_file() and item.picture.size_bytes() is not None:
            raise BadInput(f"{spec}: {path} is no file of its own; unpack the set, or stage it first")
        found.append(Source(path, item.truth.point))
    if not found:
        raise BadInput(f"{spec}: holds no photo with a known place")
    return found
