"""Attack one reader with spoilt files, in a process of its own with a limit for its memory and for each file's time.

    outcome = attack("recipe", first=0, count=500)
    assert not outcome.faults

Files follow from the reader's name and their number. With ``guided``, atheris makes them: it keeps what reaches new
lines of ours, and spoils that further. A fault is made smaller for a while, and kept as a file where ``keep`` says.
"""

import argparse
import hashlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path

SUPPORT = Path(__file__).resolve().parent
CASES = SUPPORT.parent / "attack_cases"
_SHRINK_S = 5.0
_HANGS = 30


@dataclass
class Fault:
    """What a file did that it must not: where, with the file's digest, and the file if it is kept."""

    what: str
    digest: str
    kept: str | None = None


@dataclass
class Outcome:
    """What came of a reader's files."""

    target: str
    taken: int = 0
    refused: int = 0
    slowest_s: float = 0.0
    peak_mib: float = 0.0
    seconds: float = 0.0
    cpu_s: float = 0.0
    faults: list[Fault] = field(default_factory=list)

    @property
    def files(self) -> int:
        """How many there were."""
        return self.taken + self.refused + len(self.faults)


def can_guide() -> bool:
    """Whether atheris is installed."""
    return find_spec("atheris") is not None


def attack(target: str, first: int, count: int, *, guided: bool = False, keep: Path | None = None) -> Outcome:
    """Let a reader read so many files; a process that dies is a fault, and the next goes on with the next file."""
    whole = Outcome(target)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="geosleuth-attack-") as name:
        folder = Path(name)
        done = deaths = 0
        while done < count and deaths < 20:
            words = [target, str(first + done), str(count - done), str(folder), *(["--guided"] if guided else [])]
            words += [] if keep is None else ["--keep", str(keep)]
            process = subprocess.run(
                [sys.executable, "-W", "ignore", str(Path(__file__).resolve()), *words],
                capture_output=True, text=True, check=False, cwd=name, env=_environment(),
            )  # fmt: skip
            part, died = _outcome(folder, target), process.returncode != 0
            if died and not (folder / "current").is_file():
                raise AssertionError(f"{target} did not begin: {process.stderr[-3000:]}")
            deaths += died
            # atheris writes its progress there.
            if process.stderr.strip() and not died and not guided:
                told = f"writes to stderr: {process.stderr.strip().splitlines()[0][:200]}"
                part.faults.append(Fault(told, ""))
                part.taken -= 1
            if died:
                part.faults.append(_death(folder, process.returncode, process.stderr, target, keep))
            done += part.files
            _add(whole, part)
    whole.seconds = time.monotonic() - began
    return whole


def _environment() -> dict[str, str]:
    # Tests put targets of their own before ours.
    folders = [os.environ.get("ATTACK_TARGETS", str(SUPPORT)), str(SUPPORT), os.environ.get("PYTHONPATH", "")]
    path = os.pathsep.join(folders)
    few = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return {**os.environ, **few, "PYTHONPATH": path, "NO_PROXY": "*"}


def _outcome(folder: Path, target: str) -> Outcome:
    file = folder / "outcome.json"
    if not file.is_file():
        return Outcome(target)
    values = json.loads(file.read_text(encoding="utf-8"))
    file.unlink()
    return Outcome(**{**values, "faults": [Fault(**one) for one in values["faults"]]})


def _death(folder: Path, code: int, stderr: str, target: str, keep: Path | None) -> Fault:
    """The fault of the file that a process died of."""
    data = (folder / "current").read_bytes()
    (folder / "current").unlink()
    late = code in (-signal.SIGPROF, -signal.SIGALRM)
    where = [line.strip() for line in stderr.splitlines() if "/geosleuth/" in line][:1]
    what = f"{'took too long' if late else f'the process died ({code})'} {' '.join(where)}".strip()
    return _kept(Fault(what, hashlib.sha256(data).hexdigest()[:12]), data, target, keep)


def _kept(fault: Fault, data: bytes, target: str, keep: Path | None) -> Fault:
    if keep is not None:
        file = keep / target / f"{fault.digest}.case"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        fault.kept = str(file)
    return fault


def _add(whole: Outcome, part: Outcome) -> None:
    whole.taken += part.taken
    whole.refused += part.refused
    whole.slowest_s = max(whole.slowest_s, part.slowest_s)
    whole.peak_mib = max(whole.peak_mib, part.peak_mib)
    whole.cpu_s += part.cpu_s
    whole.faults += part.faults


def fault_in(take: Callable[[bytes], None], data: bytes) -> tuple[bool, str | None]:
    """Whether a reader took what it was given; and what it did wrong, None where it did nothing wrong."""
    from geosleuth.support.errors import GeosleuthError

    try:
        take(data)
    except GeosleuthError as error:
        words = str(error)
        wrong = next((word for word in ("\n", "\r", "\0", "\x1b") if word in words), None)
        if wrong is not None:
            return False, f"a refusal with {wrong!r} in it: {_place(error)}"
        return False, f"a refusal of {len(words)} characters: {_place(error)}" if len(words) > 2000 else None
    except Exception as error:  # noqa: BLE001  (what is looked for)
        return False, f"{type(error).__name__}: {_place(error)}: {str(error)[:200]}"
    return True, None


def _place(error: BaseException) -> str:
    """Where of ours it came from: the last of our lines."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "geosleuth" in frame.filename] or frames
    return f"{Path(own[-1].filename).name}:{own[-1].name}"


def _same(first: str, second: str | None) -> bool:
    return second is not None and first.split(": ")[:2] == second.split(": ")[:2]


def shrunk(take: Callable[[bytes], None], data: bytes, what: str) -> bytes:
    """The file with pieces left out that the fault does not need; for a few seconds at most."""
    end = time.monotonic() + _SHRINK_S
    size = max(1, len(data) // 2)
    while size and time.monotonic() < end:
        at = 0
        while at < len(data) and time.monotonic() < end:
            less = data[:at] + data[at + size :]
            if _same(what, fault_in(take, less)[1]):
                data = less
            else:
                at += size
        size //= 2
    return data


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """End this process where the block takes so many seconds of a processor, or many more of the clock.

    On a busy machine a file may well wait. What hangs without working is noticed, too. Both signals end a process at
    once, whatever it is at; atheris has the second for itself.
    """
    clocks = {signal.ITIMER_PROF: seconds}
    if signal.getsignal(signal.SIGALRM) == signal.SIG_DFL:
        clocks[signal.ITIMER_REAL] = _HANGS * seconds
    for clock, limit in clocks.items():
        signal.setitimer(clock, limit)
    try:
        yield
    finally:
        for clock in clocks:
            signal.setitimer(clock, 0)


class _Work:
    """Reads one file after the other, and keeps what comes of them in the folder whenever that matters."""

    def __init__(self, take: Callable[[bytes], None], target: str, seconds: float, folder: Path, keep: Path | None):
        self._take, self._seconds, self._folder, self._keep = take, seconds, folder, keep
        self.outcome = Outcome(target)
        self._current = (folder / "current").open("wb", buffering=0)
        self._known: set[str] = set()

    def read(self, data: bytes) -> None:
        """One file; a process that dies of it leaves it, and the count of those before."""
        self._current.seek(0)
        self._current.truncate()
        self._current.write(data)
        begin = time.process_time()
        with _limited(self._seconds):
            taken, what = fault_in(self._take, data)
        self.outcome.slowest_s = max(self.outcome.slowest_s, time.process_time() - begin)
        if what is None:
            self.outcome.taken += taken
            self.outcome.refused += not taken
        else:
            self._note(what, data)
        self.save()

    def _note(self, what: str, data: bytes) -> None:
        known = ": ".join(what.split(": ")[:2])
        if known not in self._known:
            self._known.add(known)
            with _limited(self._seconds + 2 * _SHRINK_S):
                data = shrunk(self._take, data, what)
            fault = Fault(what, hashlib.sha256(data).hexdigest()[:12])
            self.outcome.faults.append(_kept(fault, data, self.outcome.target, self._keep))
        else:
            self.outcome.faults.append(Fault(what, hashlib.sha256(data).hexdigest()[:12]))

    def save(self) -> None:
        """Write the outcome down."""
        if self.outcome.files % 100 == 1:
            self.outcome.peak_mib = peak_mib()
        self.outcome.cpu_s = time.process_time()
        (self._folder / "outcome.json").write_text(json.dumps(asdict(self.outcome)), encoding="utf-8")


def peak_mib() -> float:
    """The most memory that this very process held; ``ru_maxrss`` would count its parent's before it became this one."""
    status = Path("/proc/self/status")
    if status.is_file():
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(peak.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _guide(target: str, first: int, count: int, folder: Path, keep: Path | None) -> None:
    """Let atheris choose the files: it sees which of our lines each one reaches."""
    import atheris  # type: ignore[import-not-found,import-untyped,unused-ignore]

    with atheris.instrument_imports(include=["geosleuth"]):
        from attack_targets import TARGETS

        chosen = TARGETS[target]
        seeds = chosen.seeds()
        corpus = folder / "corpus"
        corpus.mkdir(exist_ok=True)
        for number, seed in enumerate(seeds):
            (corpus / f"seed-{number}").write_bytes(seed)
        (folder / "read").mkdir(exist_ok=True)
        opened = chosen.reading(folder / "read")
        take = opened.__enter__()
        for seed in seeds:
            take(seed)
    work = _Work(take, target, chosen.seconds, folder, keep)

    def spoil(data: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.random() < 0.5:
            return bytes(atheris.Mutate(data, most))
        try:
            return chosen.spoil(data, rng.choice(seeds), rng)[:most]
        except ValueError:  # no document any more
            return bytes(atheris.Mutate(data, most))

    def one(data: bytes) -> None:
        work.read(data)
        if work.outcome.files >= count:
            opened.__exit__(None, None, None)
            os._exit(0)

    most = max(4096, 2 * max(map(len, seeds)))
    options = [f"-seed={first + 1}", f"-max_len={most}", f"-runs={10 * count}", "-timeout=600", "-rss_limit_mb=0"]
    atheris.Setup([sys.argv[0], *options, str(corpus)], one, custom_mutator=spoil)
    atheris.Fuzz()


def _main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--guided", action="store_true")
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    sys.path.insert(0, os.environ.get("ATTACK_TARGETS", str(SUPPORT)))
    from geosleuth.photo import runtime  # noqa: F401  (before the limit: what is loaded is no file's doing)

    if given.guided:
        _limit_memory()
        _guide(given.target, given.first, given.count, given.folder, given.keep)
        return
    from attack_targets import TARGETS

    target = TARGETS[given.target]
    seeds = target.seeds()
    (given.folder / "read").mkdir(exist_ok=True)
    with target.reading(given.folder / "read") as take:
        for seed in seeds:
            _, what = fault_in(take, seed)
            assert what is None, f"{target.name} has a seed that it can't read: {what}"
        _limit_memory()
        work = _Work(take, target.name, target.seconds, given.folder, given.keep)
        for number in range(given.first, given.first + given.count):
            rng = random.Random(f"{target.name} {number}")
            work.read(target.spoil(rng.choice(seeds), rng.choice(seeds), rng))


def _limit_memory() -> None:
    from attack_targets import MEMORY_LIMIT

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))


if __name__ == "__main__":
    _main()
