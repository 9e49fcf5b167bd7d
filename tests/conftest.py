"""What every test stands on."""

import contextlib
import ctypes
import fcntl
import gc
import hashlib
import json
import os
import resource
import shutil
import socket
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from geosleuth.photo.text.detector import Search
    from geosleuth.photo.text.strips import Pixels

ROOT = Path(__file__).resolve().parent.parent

# Several test processes share the cores. Where each has as many threads for its sums as there are cores, they mostly
# wait for one another: learning a prior then takes four times as long. Set before anything loads NumPy or PyTorch.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# glibc gives each thread an arena of its own and keeps what is freed there: one locate grew to 1.4 GB, 0.6 GB with two
# arenas. -8 is M_ARENA_MAX; other C libraries have no such call.
os.environ.setdefault("MALLOC_ARENA_MAX", "2")
if sys.platform == "linux":
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").mallopt(-8, 2)

# Some machines are set up to keep no compiled modules. Then every test process rewrites the assertions of all test
# modules anew, and every command that a test starts compiles the package first: minutes of a run. Git ignores them.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Wall-clock deadlines per example fail on busy machines and prove nothing; tests that are about time measure it.
# The house draws the same examples every time, so that a red run is red for everybody; who wants to find new trouble
# wanders: other examples every time, and many more of them (`make test-all`).
settings.register_profile("house", deadline=None, max_examples=20, derandomize=True)
settings.register_profile("wandering", deadline=None, max_examples=100, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "house"))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Have test processes that start together load each test module one after the other.

    The first rewrites its assertions and compiles what it imports, and keeps both; the others find them made. In a
    fresh clone that is a third of what collecting takes.
    """
    if not isinstance(collector, pytest.Module) or "PYTEST_XDIST_WORKER" not in os.environ:
        return (yield)
    with collector.path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        return (yield)


LOAD_TORCH = (
    "agent/test_exports.py", "agent/test_real_server.py", "cli/test_locate_refusals.py", "lab/cli/test_train.py",
    "evidence/test_visual_geoclip.py", "lab/traces/store/", "lab/baselines/test_geoclip.py",
    "models/test_tiny_server.py", "models/test_weights.py", "lab/score/rewards/test_encoders.py",
    "teams/test_network.py", "teams/test_swarm_locating.py", "lab/train/", "lab/scenes/environment/",
)  # fmt: skip
"""Tests that load PyTorch, Transformers or TRL, which takes seconds."""

TAKES_LONGEST = "test_three_hundred_scenes_keep_the_promises"
"""Minutes by itself: whoever begins with it does not keep the others waiting in the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests that load PyTorch first: each test process begins with a part of the list, so that one of them does."""
    tests = ROOT / "tests"

    def place(item: pytest.Item) -> tuple[bool, bool]:
        loads_torch = str(item.path).removeprefix(f"{tests}/").startswith(LOAD_TORCH)
        return item.name != TAKES_LONGEST, not loads_torch

    items.sort(key=place)


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end: the collector of garbage need not walk all of them again each time."""
    gc.collect()
    gc.freeze()
    # It looks less often, too: tests make many objects and few cycles.
    gc.set_threshold(10_000, 10, 10)


BEGAN = time.monotonic()
PEAKS_GB: list[float] = []
"""The memory that each test process needed at most."""


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Have each test process report the most memory it needed."""
    peak_gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["peak_gb"] = peak_gb
    elif not session.config.getoption("numprocesses", None):
        PEAKS_GB.append(peak_gb)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Collect what the processes reported."""
    if (peak_gb := getattr(node, "workeroutput", {}).get("peak_gb")) is not None:
        PEAKS_GB.append(peak_gb)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what the run cost: the promise is eight minutes and 2 GB a process for `make test`."""
    peaks = " and ".join(f"{peak:.1f}" for peak in PEAKS_GB)
    terminalreporter.write_line(f"took {(time.monotonic() - BEGAN) / 60:.1f} minutes, at most {peaks} GB a process")


@pytest.fixture(scope="session", autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory, base_file: Path) -> Iterator[None]:
    """Nothing a test builds or adds ends up in the folders of whoever runs it; the base atlas is there."""
    from homes import home_with_base

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEOSLEUTH_HOME", str(home_with_base(tmp_path_factory.mktemp("home"), base_file)))
        yield


@pytest.fixture(scope="module", autouse=True)
def _heavy_modules(request: pytest.FixtureRequest) -> None:
    from later import load_for

    load_for(request.path)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded answers and source texts beside the repository; tests that need it skip without it."""
    folder = Path(os.environ.get("GEOSLEUTH_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent: it holds the recorded answers (set GEOSLEUTH_SHARED to point elsewhere)")
    return folder


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Offline means no socket: a test that reaches for any host but this one fails."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        host = address[0] if isinstance(address, tuple) else ""
        if host not in ("", "127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a test reached for {host}")
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded)


class ReadBefore:
    """What the networks for text have found in pictures so far: in memory, and on disk for other test processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, Any] = {}

    def get(self, key: str, read: Callable[[], Any]) -> Any:
        """What was found, as JSON has it; read where nothing was yet."""
        if key not in self._known:
            kept = self._folder / f"{key}.json"
            try:
                self._known[key] = json.loads(kept.read_bytes())
            except (OSError, ValueError):
                from geosleuth.support.files import write_text_atomically

                self._known[key] = read()
                write_text_atomically(kept, json.dumps(self._known[key]))
        return self._known[key]


@pytest.fixture(scope="session")
def read_before() -> ReadBefore:
    """Kept in the project's cache folder until the code, the networks or the runtime that read change."""
    source = ROOT / "src" / "geosleuth" / "photo" / "text"
    reads_with = hashlib.sha256(f"{version('rapidocr')} {version('onnxruntime')}".encode())
    for file in sorted(source.rglob("*")):
        if file.is_file() and file.suffix != ".pyc":
            reads_with.update(file.read_bytes())
    folder = ROOT / ".cache" / "test-reading" / reads_with.hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.parent.iterdir():
        if old != folder:
            shutil.rmtree(old, ignore_errors=True)
    return ReadBefore(folder)


@pytest.fixture(scope="session", autouse=True)
def _one_thread_a_network() -> Iterator[None]:
    """Two test processes on two cores: a network's second thread would only wait for the first, and spin meanwhile."""
    from geosleuth.photo.text import rapid

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rapid, "THREADS", 1)
        yield


@pytest.fixture(autouse=True)
def _read_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, read_before: ReadBefore) -> None:
    """Many tests show the same few signs, and finding their lines takes seconds: the same pixels are searched once.

    Tests of reading itself (``tests/photo/text``) search every time.
    """
    if request.path.is_relative_to(ROOT / "tests" / "photo" / "text"):
        return
    import numpy as np

    from geosleuth.photo.text import detector, rapid, reader

    found, read = detector.search, rapid.read_strips

    def search(pixels: "Pixels", detail_px: int, *, cuts: int = detector.MAX_CUTS) -> "Search":
        def look() -> list[Any]:
            boxes, writing = found(pixels, detail_px, cuts=cuts)
            return [[[box.quad.tolist(), box.score] for box in boxes], writing]

        kept, writing = read_before.get(_digest(f"search {detail_px} {cuts}", [pixels]), look)
        boxes = [detector.TextBox(np.asarray(quad, dtype=np.float32), score) for quad, score in kept]
        return detector.Search(boxes, tuple(map(tuple, writing)))

    def read_strips(strips: "list[Pixels]") -> list[tuple[str, float]]:
        kept = read_before.get(_digest("strips", strips), lambda: read(strips))
        return [(text, score) for text, score in kept]

    monkeypatch.setattr(reader, "search", search)
    monkeypatch.setattr(reader, "read_strips", read_strips)


def _digest(what: str, pictures: "Sequence[Pixels]") -> str:
    digest = hashlib.sha256(what.encode())
    for pixels in pictures:
        digest.update(f"{pixels.shape} {pixels.dtype}".encode())
        digest.update(pixels.tobytes())
    return digest.hexdigest()[:40]


@pytest.fixture(scope="session")
def base_file() -> Path:
    """The whole base atlas, as users have it; kept in the project's cache folder until what it is made of changes."""
    from geosleuth.atlas.base import build_base
    from homes import made_once

    parts = ("atlas/base", "atlas/borders", "atlas/facts/data", "atlas/search", "atlas/tiles", "names")
    return made_once("base", [ROOT / "src" / "geosleuth" / part for part in parts], build_base)


@pytest.fixture
def atlas_home(tmp_path: Path, base_file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, with the base atlas in it and no region."""
    from homes import home_with_base

    monkeypatch.setenv("GEOSLEUTH_HOME", str(tmp_path))
    return home_with_base(tmp_path, base_file)
