"""Training data of a folder of weights, as far as it affects scores: test photos of data sets.

Training refuses test photos. If the user allows them, the policy's folder says so, and so does that of every policy
trained from it; benchmark runs copy the mark into their results.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from geosleuth.support.files import write_text_atomically

FILE = "geosleuth-training.json"
FORMAT = "geosleuth-training/1"


def find_learned_tests(folder: Path) -> tuple[str, ...]:
    """Return the data sets whose test photos a folder's weights were trained on; none where nothing says so."""
    try:
        plain = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return tuple(sorted(str(name)[:80] for name in plain["test_photos_of"]))
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def write_learned_tests(folder: Path, names: Iterable[str]) -> None:
    """Mark a folder of weights; nothing is written where there is nothing to say."""
    if seen := sorted(set(names)):
        write_text_atomically(folder / FILE, json.dumps({"format": FORMAT, "test_photos_of": seen}) + "\n")
