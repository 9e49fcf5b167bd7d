"""How often the field guide's odds name the right country, from what people saw on photos without knowing the place.

    python benchmarks/sightings.py SIGHTINGS.jsonl TABLE.csv [--lines odd|even] [--show] [--ranks] [--json]

SIGHTINGS has one JSON object a line: ``file`` and ``sightings``, a list of what was seen, one thing each. Those that
begin with "text:" quote signs; the field guide leaves them to the reader of text. TABLE has the columns ``file`` and
``country`` (ISO code). Printed: how often the country is first, among the first three and five, and how many sightings
the guide understood. ``--ranks`` prints a table of Markdown: for each photo how many sightings were understood, and
which place the right country has.
"""

import argparse
import csv
import json
import sys
from pathlib import Path
from statistics import mean

from geosleuth.evidence.guide import weigh_sightings


def main() -> int:
    """Weigh and count."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("sightings", type=Path)
    options.add_argument("table", type=Path)
    options.add_argument("--lines", choices=("all", "odd", "even"), default="all")
    options.add_argument("--show", action="store_true")
    options.add_argument("--ranks", action="store_true")
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    for path in (chosen.sightings, chosen.table):
        if not path.is_file():
            print(f"No such file: {path}", file=sys.stderr)
            return 2
    with chosen.table.open(encoding="utf-8", newline="") as stream:
        truths = {Path(row["file"]).stem: row["country"].upper() for row in csv.DictReader(stream)}
    ranks, understood = [], []
    lines = chosen.sightings.read_text(encoding="utf-8").splitlines()
    begin, step = {"all": (0, 1), "odd": (0, 2), "even": (1, 2)}[chosen.lines]
    for row in map(json.loads, lines[begin::step]):
        seen = [one for one in row["sightings"] if not one.startswith("text:")]
        weighed = weigh_sightings(seen)
        truth = truths[Path(row["file"]).stem]
        order = list(weighed.countries)
        ranks.append(order.index(truth) + 1 if truth in order else len(order) + 1)
        understood.append(1 - len(weighed.not_understood) / max(1, len(seen)))
        if chosen.ranks:
            known = len(seen) - len(weighed.not_understood)
            print(f"| {row['file']} | {known} of {len(seen)} | {ranks[-1]} | {', '.join(order[:3])} |")
        if chosen.show:
            first = ", ".join(f"{code} {weighed.countries[code]:.0%}" for code in order[:5])
            print(f"{row['file']}  {truth} is number {ranks[-1]}: {first}")
    shares = {f"among the first {count}": mean(rank <= count for rank in ranks) for count in (1, 3, 5, 10)}
    if chosen.json:
        print(json.dumps({"photos": len(ranks), **shares, "sightings understood": mean(understood)}, indent=2))
    else:
        print(f"photos                {len(ranks)}")
        for words, share in shares.items():
            print(f"{words:<21} {share:.0%}")
        print(f"sightings understood  {mean(understood):.0%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
