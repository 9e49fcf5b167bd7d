"""Modules that take seconds to load, loaded before the first test that needs them and not when tests are collected."""

import inspect
import warnings
from collections import defaultdict
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

_NEEDED: dict[Path, list[str]] = defaultdict(list)


class _Later:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_") or attribute == "pytestmark":
            # Plug-ins of pytest ask everything in a test module whether it is theirs.
            raise AttributeError(attribute)
        return getattr(_loaded(self._name), attribute)


def later(name: str) -> Any:
    """A module of another package; the tests of the file that asks are skipped where it is not installed."""
    if find_spec(name) is None:
        pytest.skip(f"{name} is not installed; it comes with the extra dev", allow_module_level=True)
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    _NEEDED[Path(frame.f_back.f_globals["__file__"])].append(name)
    return _Later(name)


def load_for(path: Path) -> None:
    """Load what a test module has asked for."""
    for name in _NEEDED.get(path, ()):
        _loaded(name)


def _loaded(name: str) -> Any:
    # What other people's packages warn of while they load is no fault of ours.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module(name)
