"""Compile with what the postcodes of regions begin: src/geosleuth/lab/scenes/locales/data/postcodes.tsv.gz.

    python scripts/build_postcode_beginnings.py

The atlas knows for some countries which region a postcode is of (see ``scripts/build_facts.py``); the made-up streets
of a world ask the other way round, and want an answer at once. Rows are a region such as "ES.29" (GeoNames' code) or a
town whose name the atlas has for a region (a GeoNames number, as in Italy), a tab, and beginnings between spaces. A
country alone ("RU") says that its codes tell regions, so that a code of no known region is better left out.
"""

import gzip
from collections import defaultdict
from contextlib import closing
from itertools import product
from pathlib import Path

from geosleuth.atlas.base import ensure_base, open_base
from geosleuth.atlas.facts import by_postcode
from geosleuth.lab.scenes.locales.names import COUNTRIES, FIGURES, FIRST_LETTERS, list_mask_options
from geosleuth.lab.scenes.towns import MIN_POPULATION
from geosleuth.names import same_region

TABLE = Path(__file__).parents[1] / "src/geosleuth/lab/scenes/locales/data/postcodes.tsv.gz"
TELLING = 3  # no region needs more than the first three figures


def main() -> None:
    """Write the table."""
    rows: dict[str, str] = {}
    with closing(open_base(ensure_base())) as conn:
        regions = dict(conn.execute("SELECT code, name FROM region"))
        for country in sorted(code for code, one in COUNTRIES.items() if one.postcode):
            begins = beginnings(country)
            if not begins:
                continue
            rows[country] = ""
            wanted = {code: name for code, name in regions.items() if code.startswith(f"{country}.")}
            if country == "IT":
                wanted |= {
                    str(ref): name
                    for ref, name in conn.execute(
                        "SELECT ref, name FROM place WHERE kind = 0 AND country = ? AND population >= ? ORDER BY ref",
                        (country, MIN_POPULATION),
                    )
                }
            for code, name in wanted.items():
                meant = [one for one in sorted(begins) if same_region(one, name, country)]
                found = sorted({begin for one in meant for begin in begins[one]})
                if found:
                    rows[code] = " ".join(shortened(found))
    text = "".join(f"{code}\t{found}\n" for code, found in rows.items())
    TABLE.write_bytes(gzip.compress(text.encode("ascii"), 9, mtime=0))
    print(f"{len(rows)} rows, {TABLE.stat().st_size} bytes")


def beginnings(country: str) -> dict[str, list[str]]:
    """The first few figures of a country's codes, by the region that they stand for."""
    mask = COUNTRIES[country].postcode
    telling = 1 if mask[0] == "@" else TELLING
    rest = "".join(list_mask_options(sign)[1 if sign == "#" else 0] for sign in mask[telling:])
    options = [FIRST_LETTERS] if telling == 1 else [list_mask_options(sign) for sign in mask[:telling]]
    found: dict[str, list[str]] = defaultdict(list)
    for figures in product(*options):
        begin = "".join(figures)
        region = by_postcode(begin + rest).regions.get(country)
        if region is not None:
            found[region].append(begin)
    return found


def shortened(begins: list[str]) -> list[str]:
    """The same with "28" in place of "280" to "289"."""
    whole = {begin[:-1] for begin in begins if all(begin[:-1] + figure in begins for figure in FIGURES)}
    return sorted(whole - {""} | {begin for begin in begins if begin[:-1] not in whole})


if __name__ == "__main__":
    main()
