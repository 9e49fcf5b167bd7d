"""Writing a task set for verifiers: a package that its loader finds by name, the rows, and how they are played."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from geosleuth.lab.bench.sets import Item
from geosleuth.support.errors import BadInput
from geosleuth.support.files import write_text_atomically

from .episode import build_photo_row, build_setting, get_part

NAME = "geosleuth_world"
ROWS, PLAYED = "rows.jsonl", "played.json"

_PACKAGE = '''\
"""Photos to be located, as a task set for verifiers; written by geosleuth."""

from pathlib import Path

from geosleuth.lab.scenes.environment import for_verifiers


class GeoTaskset(for_verifiers.GeoTaskset):
    OWN_FOLDER = str(Path(__file__).resolve().parent)


__all__ = ["GeoTaskset"]
'''

_PROJECT = f"""\
[project]
name = "{NAME.replace("_", "-")}"
version = "0.1.0"
description = "Photos to be located, as a task set for verifiers"
dependencies = ["geosleuth", "verifiers>=0.4"]

[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[tool.setuptools]
packages = ["{NAME}"]
package-data = {{ {NAME} = ["*.json", "*.jsonl"] }}
"""


def write_verifiers(folder: Path, items: Iterable[Item], words: Mapping[str, Any]) -> int:
    """Write a project with the package ``geosleuth_world``; return the number of tasks.

    Args:
        folder: made where it is not there; install it with pip, or put it on the path.
        items: the photos, which must be files of their own.
        words: how episodes are played, see `setting_of`; answers are always replies.

    Raises:
        BadInput: a photo or a word can't be used.
    """
    played = {**words, "answer_by": "reply"}
    build_setting(played)
    rows = [{**build_photo_row(item), **get_part(item)} for item in items]
    if not rows:
        raise BadInput("there is no photo to write tasks for")
    package = folder / NAME
    package.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write_text_atomically(package / ROWS, lines)
    write_text_atomically(package / PLAYED, json.dumps(played, ensure_ascii=False, indent=1) + "\n")
    write_text_atomically(folder / "pyproject.toml", _PROJECT)
    write_text_atomically(package / "__init__.py", _PACKAGE)
    return len(rows)
