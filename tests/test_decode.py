"""Plain data made into dataclasses: what is taken, and what is said of the rest."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from geosleuth.support.decode import decode
from geosleuth.support.errors import BadInput


@dataclass(frozen=True, slots=True)
class Lens:
    focal_mm: float
    make: str = "unknown"
    folder: Path | None = None

    def __post_init__(self) -> None:
        if self.focal_mm <= 0:
            raise ValueError("a focal length is above 0")


@dataclass(frozen=True, slots=True)
class Camera:
    name: str
    lens: Lens
    spare: tuple[Lens, ...] = ()
    size: tuple[int, int] = (1, 1)
    mode: Literal["photo", "film"] = "photo"
    notes: Mapping[str, Any] = field(default_factory=dict, hash=False)
    said: str | Mapping[str, Any] | None = None


WHOLE = {"name": "a", "lens": {"focal_mm": 35}}


def test_what_is_left_out_is_the_default_or_empty() -> None:
    assert decode(WHOLE, Camera) == Camera("a", Lens(35.0))
    assert decode({"focal_mm": 1.5}, Lens, "empty") == Lens(1.5, "")
    with pytest.raises(BadInput, match="lacks mode"):
        decode(WHOLE, Camera, "empty")


def test_lists_become_tuples_and_texts_paths() -> None:
    made = decode(WHOLE | {"spare": [{"focal_mm": 1, "folder": "a/b"}], "size": [2, 3], "said": {"x": [1]}}, Camera)
    assert made.spare == (Lens(1.0, folder=Path("a/b")),)
    assert made.size == (2, 3)
    assert made.said == {"x": [1]}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"nam": "b"}, "nam is not known; did you mean name?"),
        ({"lens": {"focal": 3, "x": 1}}, "lens.focal is not known; did you mean focal_mm?"),
        ({"lens": {"make": "b"}}, "lacks lens.focal_mm"),
        ({"lens": {"focal_mm": -1}}, "lens: a focal length is above 0"),
        ({"lens": 3}, "lens must be a mapping with focal_mm, make, folder, not 3"),
        ({"lens": {"focal_mm": float("inf")}}, "lens.focal_mm must be a number, not inf"),
        ({"lens": {"focal_mm": 10**400}}, "lens.focal_mm must be a number, not 1000"),
        ({"lens": {"focal_mm": 1, "folder": 3}}, "lens.folder must be a path, not 3"),
        ({"name": ""}, "name must be a text, not ''"),
        ({"spare": "b"}, "spare must be a list, not 'b'"),
        ({"spare": [WHOLE["lens"], {"focal_mm": True}]}, "spare, entry 2.focal_mm must be a number, not True"),
        ({"size": [1]}, "size must be a list of 2, not [1]"),
        ({"size": [1, 2.5]}, "size, entry 2 must be a whole number, not 2.5"),
        ({"mode": "radio"}, "mode must be one of photo, film, not 'radio'"),
        ({"said": 3}, "said must be a text or a mapping, not 3"),
        ({"notes": None}, "notes must be a mapping, not None"),
        ({3: 4}, "3 is not known"),
        ({"x` - at `$.lens": 4}, "unknown field `x`"),
    ],
)
def test_what_does_not_fit_is_named_in_one_line(change: dict[Any, Any], complaint: str) -> None:
    with pytest.raises(BadInput) as caught:
        decode(WHOLE | change, Camera)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_msgspec_is_imported_when_something_is_decoded() -> None:
    told = "import sys, geosleuth.agent, geosleuth.cli; sys.exit('msgspec' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", told], check=False).returncode == 0
