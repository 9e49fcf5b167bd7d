"""How often the band of a shadow holds the true place, and how right the times are that fit one, against pvlib.

    python benchmarks/sun.py [--cases 500] [--seed 1] [--check]

Places all over the Earth and times of six years, the sun between 8 and 80 degrees up. Bearings are read up to 3
degrees off, lengths up to 5 %. ``--check`` exits with 1 where under 99 % of the bands hold the place, or a time is
more than 2 minutes off. Needs pvlib (``pip install -c constraints.txt --group dev``).
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from sun_cases import band_holds, sun_cases, times_off_minutes

HELD, MINUTES = 0.99, 2.0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    cases, begun = sun_cases(asked.cases, asked.seed), time.process_time()
    held = sum(map(band_holds, cases)) / len(cases)
    worst = max(map(times_off_minutes, cases))
    spent = time.process_time() - begun
    print(f"{len(cases)} cases: {held:.1%} of the bands hold the place; times at most {worst:.1f} minutes off")
    print(f"{1000 * spent / len(cases):.0f} ms of CPU a case")
    if asked.check and (held < HELD or worst > MINUTES):
        sys.exit(1)


if __name__ == "__main__":
    main()
