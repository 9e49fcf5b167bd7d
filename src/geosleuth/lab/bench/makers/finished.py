"""Pictures made one by one into a folder: what is there is kept, what fails is named, and the rest goes on."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from geosleuth.lab.bench.sets.dataset import FilePicture, Item
from geosleuth.support.errors import BadInput

from .photo_tables import TablePlace, file_name, read_places, writing_table


@dataclass(frozen=True, slots=True)
class FinishedSet:
    """The result: pictures made, already there, and refused with the reason. ``unplaced`` are in no table of places."""

    made: tuple[str, ...]
    kept: tuple[str, ...]
    refused: Mapping[str, str]
    unplaced: tuple[str, ...]
    table: Path | None


def make_each(
    names: Iterable[str],
    make: Callable[[str, Path], Mapping[str, str]],
    table: Path,
    ending: str,
    places: Mapping[str, TablePlace],
    *,
    overwrite: bool,
    progress: Callable[[int, int], None],
) -> FinishedSet:
    """Make a picture of each name beside a table, which can be opened as a data set of those with a place.

    Args:
        names: what to make.
        make: makes one at a path, and returns its fields.
        table: the table to write, after each, so that an interrupted run loses nothing.
        ending: of the pictures' files.
        places: where they were taken.
        overwrite: replace pictures that are there.
        progress: called with how many are done and to do.

    Raises:
        BadInput: the folder can't be written.
    """
    try:
        table.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{table.parent}: can't be created: {error.strerror or error}") from error
    todo = list(names)
    paths = {name: table.parent / file_name(name, ending) for name in todo}
    known = read_places(table) if table.is_file() else {}
    rows = {name: known[name].fields for name in todo if name in known and paths[name].is_file()}
    made, kept, refused = [], [], {}
    for number, name in enumerate(todo):
        progress(number, len(todo))
        if paths[name].is_file() and (name in rows or name not in places) and not overwrite:
            kept.append(name)
            continue
        try:
            rows[name] = make(name, paths[name])
        except BadInput as error:
            refused[name] = str(error)
            rows.pop(name, None)
            continue
        made.append(name)
        _write_table(table, {item: rows[item] for item in todo if item in rows and item in places}, paths, places)
    progress(len(todo), len(todo))
    done = [name for name in todo if name in {*made, *kept}]
    placed = [name for name in done if name in places]
    _write_table(table, {name: rows[name] for name in placed}, paths, places)
    unplaced = tuple(name for name in done if name not in places)
    return FinishedSet(tuple(made), tuple(kept), refused, unplaced, table if placed else None)


def _write_table(
    table: Path, rows: Mapping[str, Mapping[str, str]], paths: Mapping[str, Path], places: Mapping[str, TablePlace]
) -> None:
    if not rows:
        return
    fields = dict.fromkeys(field for name, row in rows.items() for field in (*places[name].fields, *row))
    with writing_table(table, fields) as write:
        for name, row in rows.items():
            write(Item(name, FilePicture(paths[name]), places[name].truth, places[name].fields), row)
