"""The questions of benchmarks/noise.py: nothing unrelated comes back."""

import asyncio
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from geosleuth.atlas import OfflineAtlas
from tool_cases import case_of

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "noise.py"


@pytest.fixture(scope="module")
def noise() -> ModuleType:
    spec = importlib.util.spec_from_file_location("noise", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["noise"] = module
    spec.loader.exec_module(module)
    return module


def test_nothing_unrelated_comes_back(noise: ModuleType, atlas_home: Path, tmp_path: Path) -> None:
    assert atlas_home.is_dir()
    case = case_of(atlas=OfflineAtlas(tmp_path))
    assert len(noise.QUESTIONS) >= 60
    assert sum(question.named for question in noise.QUESTIONS) == 10
    for question in noise.QUESTIONS:
        found = asyncio.run(noise.asked(question, case))
        assert noise.unrelated(question, found) == [], question.words


def test_what_is_unrelated_is_noticed(noise: ModuleType) -> None:
    question = next(one for one in noise.QUESTIONS if "Glacier Bay" in one.words)
    assert noise.unrelated(question, ["Glace Bay, Nova Scotia, Canada"])
    assert not noise.unrelated(question, ["Alaska, United States"])
