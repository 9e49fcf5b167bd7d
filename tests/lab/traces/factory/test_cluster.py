"""The factory on a Ray cluster."""

import asyncio
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from factory_runs import contents, hand_work
from geosleuth.lab.traces.factory import run_factory
from ray_nodes import ray_nodes


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
def test_a_cluster_makes_the_same_bytes_as_this_process(tmp_path: Path, factory_home: Path) -> None:
    work = hand_work(tmp_path / "set", 4)
    with ray_nodes(GEOSLEUTH_HOME=str(factory_home)) as nodes:
        there = asyncio.run(run_factory(replace(work, cluster=nodes.address, at_once=2), tmp_path / "there"))
    here = asyncio.run(run_factory(work, tmp_path / "here"))
    assert (there.why, here.why) == ("done", "done")
    assert contents(tmp_path / "there") == contents(tmp_path / "here")
