"""Attack every reader of foreign files and messages with spoilt ones, and count what comes of it.

    python benchmarks/attack.py [TARGET ...] [--share 1.0] [--guided SHARE] [--keep FOLDER] [--jobs N] [--json]

Each reader works in a process of its own with 3 GiB of memory and 10 to 60 seconds of a processor for each file;
servers listen on loopback only. A file is taken, or refused in one line; anything else is a fault: it is made smaller,
kept as a case (`tests/attack_cases`, which the tests read again), and the command ends with 1. `--share` makes fewer
files, or more; `--first` others. Where atheris is installed (`pip install --group attack`), readers written in
Python get more files, whose making is guided by the lines that they reach.
"""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from attack_process import CASES, Outcome, attack, can_guide
from attack_targets import TARGETS
from geosleuth.atlas.base import ensure_base

HEADER = ("what", "reader", "files", "guided", "taken", "refused", "faults", "s", "CPU s", "slowest CPU s", "most MiB")


def main() -> int:
    """Attack; 1 where there was a fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("targets", nargs="*", choices=[*TARGETS, []], metavar="TARGET", help="only these readers")
    parser.add_argument("--share", type=float, default=1.0, help="how many of the suite's files")
    parser.add_argument("--guided", type=float, default=0.3, help="how many more, made by atheris, as a share of those")
    parser.add_argument("--first", type=int, default=0, help="the number of the first file")
    parser.add_argument("--keep", type=Path, default=CASES, help="where files that show a fault are kept")
    parser.add_argument("--jobs", type=int, default=1, help="readers at once")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    os.environ.setdefault("ATTACK_BASE", str(ensure_base()))
    began = time.monotonic()
    outcomes: list[tuple[Outcome, Outcome | None]] = []
    if not given.json:
        print(f"{platform.python_version()} on {platform.machine()}, {os.cpu_count()} cores; memory limit 3 GiB each")
        print(" | ".join(HEADER), flush=True)

    def one(name: str) -> tuple[Outcome, Outcome | None]:
        target = TARGETS[name]
        count = max(1, round(target.count * given.share))
        plain = attack(name, given.first, count, keep=given.keep)
        more = round(count * given.guided)
        if not (target.guided and more and can_guide()):
            return plain, None
        return plain, attack(name, given.first, more, guided=True, keep=given.keep)

    with ThreadPoolExecutor(given.jobs) as pool:
        for plain, guided in pool.map(one, given.targets or TARGETS):
            outcomes.append((plain, guided))
            if not given.json:
                print(" | ".join(row(plain, guided)), flush=True)
                for fault in found(plain, guided):
                    print(f"    {fault}", flush=True)
    if given.json:
        print(json.dumps([[one and vars(one) | {"faults": len(one.faults)} for one in pair] for pair in outcomes]))
    else:
        print(f"CPU of the readers: {sum(one.cpu_s for pair in outcomes for one in pair if one):.0f} s")
        files = sum(plain.files + (guided.files if guided else 0) for plain, guided in outcomes)
        faults = sum(1 for pair in outcomes for _ in found(*pair))
        print(f"{files} files, {faults} faults, {time.monotonic() - began:.0f} s")
        if not can_guide():
            print("atheris is not installed: no file was guided by the lines it reaches")
    return int(any(True for pair in outcomes for _ in found(*pair)))


def found(plain: Outcome, guided: Outcome | None) -> Iterator[str]:
    """The faults of both, in words; one of a kind, the one that is kept."""
    for outcome in (plain, *([guided] if guided else [])):
        for fault in outcome.faults:
            if fault.kept is not None:
                yield f"{fault.what} ({fault.kept})"


def row(plain: Outcome, guided: Outcome | None) -> tuple[str, ...]:
    """The cells of one reader."""
    both = [plain, *([guided] if guided else [])]
    return (
        TARGETS[plain.target].group,
        plain.target,
        str(sum(one.files for one in both)),
        str(guided.files if guided else 0),
        str(sum(one.taken for one in both)),
        str(sum(one.refused for one in both)),
        str(sum(len(one.faults) for one in both)),
        f"{sum(one.seconds for one in both):.0f}",
        f"{sum(one.cpu_s for one in both):.0f}",
        f"{max(one.slowest_s for one in both):.2f}",
        f"{max(one.peak_mib for one in both):.0f}",
    )


if __name__ == "__main__":
    sys.exit(main())
