"""What the benchmarks of the atlas print."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def nominatim(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """benchmarks/nominatim.py, which imports others beside it."""
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    spec = importlib.util.spec_from_file_location("nominatim_beside", BENCHMARKS / "nominatim.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def _asked(ours: float, theirs: float) -> dict[str, Any]:
    times = {"p50_ms": 1.0, "p95_ms": 2.0}
    return {"atlas": {"cpu_ms": 1.0, "hits": ours, **times}, "nominatim": {"cpu_ms": 12.0, "hits": theirs, **times}}


def test_a_ratio_to_no_right_answer_is_no_number(nominatim: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    kinds = {"names": _asked(1.0, 1.0), "misread": _asked(1.0, 0.0), "reverse": _asked(0.0, 1.0)}
    measured = [{"extract": "here", "kinds": kinds, "import": {"atlas_cpu_s": 1.0, "nominatim_cpu_s": 20.0}}]
    nominatim.show(measured)
    names, misread, reverse = capsys.readouterr().out.splitlines()[2:5]
    assert names.endswith(" 12.0x")
    assert misread.endswith(" no hit")
    assert reverse.endswith(" 0.0x")
    assert [line.partition(":")[0] for line in nominatim.broken_promises(measured)] == ["here, reverse"] * 2
