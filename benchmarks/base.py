"""How long a fresh home takes to get its base atlas, beside making its tables anew as every home once had to.

    python benchmarks/base.py [--tables] [--check]

Times are seconds of CPU, best of three for the base atlas. `--tables` also folds and sorts all names again (half a
minute). `--check` exits with 1 where the base atlas takes more than 5 s.
"""

import argparse
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

from geosleuth.atlas.base import build_base

PROMISED_S = 5.0


def cpu_s(work: Callable[[], object]) -> float:
    """Seconds of CPU that this process takes for it."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", action="store_true", help="also make the tables anew")
    parser.add_argument("--check", action="store_true", help="exit with 1 where the promise is broken")
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "base.sqlite"
        new = min(cpu_s(lambda: build_base(path)) for _ in range(3))
        size = path.stat().st_size
    print(f"{platform.machine()}, Python {platform.python_version()}")
    print(f"base atlas from packaged tables: {new:.1f} s of CPU, {size / 1e6:.1f} MB")
    if given.tables:
        from build_base_tables import tables

        print(f"its tables made anew: {cpu_s(tables):.1f} s of CPU")
    return int(given.check and new > PROMISED_S)


if __name__ == "__main__":
    sys.exit(main())
