"""Photo arguments of commands: files, folders with all below them, quoted patterns."""

import glob
import os
from collections.abc import Sequence
from pathlib import Path

from geosleuth.pipeline.outputs import photos_below
from geosleuth.support.errors import BadInput

_PATTERN = frozenset("*?[")


def resolve_inputs(words: Sequence[str], *, batch: bool, same_place: bool) -> tuple[list[Path], bool, frozenset[Path]]:
    """The photos that the command means, whether they are a batch, and which of them it names one by one.

    Raises:
        BadInput: a folder or pattern holds no photo, or the words contradict each other.
    """
    if batch and same_place:
        raise BadInput("--batch is an answer for each photo, --same-place one for all; leave one of them out")
    paths: list[Path] = []
    named: set[Path] = set()
    many = batch
    for word in words:
        found = _expand_word(word)
        many = many or found is not None
        named |= {Path(word)} if found is None else set()
        paths += [Path(word)] if found is None else found
    unique = list(dict.fromkeys(paths))
    return unique, not same_place and (many or len(unique) > 1), frozenset(named)


def _expand_word(word: str) -> list[Path] | None:
    """The photos of a folder or a pattern; None for anything else."""
    if not word.strip():
        raise BadInput("an empty name is no photo; give a photo, a folder or a quoted pattern")
    path = Path(word)
    try:
        if path.is_dir():
            found = photos_below(path)
        elif _PATTERN & set(word) and not path.exists():
            found = [Path(item) for item in glob.glob(word, recursive=True) if Path(item).is_file()]  # noqa: PTH207  (may begin anywhere)
        elif word.endswith(("/", os.sep)) and not path.exists():
            raise BadInput(f"{word}: there is no such folder; check the path")
        else:
            return None
    except (OSError, ValueError):
        # The code that opens it as a photo says what is wrong with it.
        return None
    if not found:
        raise BadInput(f"{word}: there is no such file, and none that fits it as a pattern")
    return sorted(found)
