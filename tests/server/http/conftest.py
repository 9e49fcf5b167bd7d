"""A home with the base atlas, a recording, and one server for all tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from geosleuth.photo import PhotoLimits
from geosleuth.server import ServiceLimits
from geosleuth.server.http import ServeSettings
from homes import home_with_base
from serving import MOST_BYTES, MOST_STREAMS, Served, recording, served, served_here


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory, base_file: Path) -> Path:
    """What a user has after the first run."""
    return home_with_base(tmp_path_factory.mktemp("served"), base_file)


@pytest.fixture(scope="session")
def server(home: Path) -> Iterator[Served]:
    """The command, as users start it."""
    with served(home) as started:
        yield started


@pytest.fixture(scope="session")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model's name that plays a short recorded run."""
    return f"replay:{recording(tmp_path_factory.mktemp('recorded') / 'run.jsonl')}"


@pytest.fixture(scope="session")
def long_replayed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same for a run that takes a while: many looks at a photo."""
    return f"replay:{recording(tmp_path_factory.mktemp('recorded') / 'long.jsonl', 200)}"


@pytest.fixture(scope="session")
def wordy_replayed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same for a run that says more than the buffers of a connection hold."""
    thought = "The lettering is French, the kerbs are painted. " * 1500
    return f"replay:{recording(tmp_path_factory.mktemp('recorded') / 'wordy.jsonl', 150, thought=thought)}"


@pytest.fixture(scope="session")
def cramped(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Iterator[Served]:
    """A server with small buffers, small caps and little patience."""
    limits = ServiceLimits(photo=PhotoLimits(max_bytes=MOST_BYTES))
    settings = ServeSettings(heartbeat_s=0.1, write_s=0.5, streams_each=MOST_STREAMS, limits=limits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEOSLEUTH_HOME", str(home))
        with served_here(tmp_path_factory.mktemp("cramped"), settings, send_buffer=4096) as server:
            yield server
