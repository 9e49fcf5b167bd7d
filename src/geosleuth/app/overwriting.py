"""Files that are there already stay as they are, unless ``--overwrite`` says otherwise."""

from collections.abc import Iterable
from pathlib import Path

from geosleuth.errors import BadInput


def refuse_to_replace(paths: Iterable[Path], *, overwrite: bool) -> None:
    """Complain before anything is written.

    Raises:
        BadInput: one of the files is there already and may not be replaced, or its folder can't be looked into.
    """
    if overwrite:
        return
    for path in paths:
        try:
            there = path.exists() or path.is_symlink()
        except (OSError, ValueError) as error:
            raise BadInput(f"{path}: can't be written: {getattr(error, 'strerror', None) or error}") from error
        if there:
            raise BadInput(f"{path}: is there already; choose another name, or add --overwrite")
