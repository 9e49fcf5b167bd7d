"""Compile which area codes towns and regions have: src/geosleuth/lab/scenes/locales/data/areas.tsv.gz.

    python scripts/build_area_codes.py

The package `phonenumbers` knows which place a number's first figures belong to (Apache-2.0, from Google's
libphonenumber); GeoNames (CC BY 4.0) knows the towns. A town of a made-up world gets numbers that begin as those of its
real namesake do, or else as those of its region. Rows are a GeoNames number, or a region such as "BR.27", a tab, and
the figures that follow the country's code.
"""

import gzip
import re
from collections import defaultdict
from contextlib import closing
from pathlib import Path

from phonenumbers import country_code_for_region
from phonenumbers.geodata import GEOCODE_DATA

from geosleuth.atlas.base import ensure_base, open_base
from geosleuth.lab.scenes.locales import LANDS
from geosleuth.lab.scenes.towns import MIN_POPULATION
from geosleuth.names import fold

TABLE = Path(__file__).parents[1] / "src/geosleuth/lab/scenes/locales/data/areas.tsv.gz"
PROVINCES = {
    "01": "AB", "02": "BC", "03": "MB", "04": "NB", "05": "NL", "07": "NS", "08": "ON", "09": "PE", "10": "QC",
    "11": "SK",
}  # fmt: skip
GENERIC = re.compile(r"\b(province|region|county|state|prefecture|oblast|republic of|and)\b", re.IGNORECASE)
BETWEEN = re.compile(r"[/,]| - | and ")


def main() -> None:
    """Write the table."""
    rows: dict[str, str] = {}
    with closing(open_base(ensure_base())) as conn:
        regions = dict(conn.execute("SELECT code, name FROM region"))
        for country in sorted({land.code for land in LANDS}):
            named = prefixes(country)
            for code, name in regions.items():
                if code.startswith(f"{country}.") and (found := named.get((key_of(name), ""))):
                    rows[code] = found
            towns = conn.execute(
                "SELECT ref, name, region FROM place WHERE kind = 0 AND country = ? AND population >= ? ORDER BY ref",
                (country, MIN_POPULATION),
            )
            for ref, name, region in towns:
                state = region if country == "US" else PROVINCES.get(region, "") if country == "CA" else ""
                if found := named.get((key_of(name), state)):
                    rows[str(ref)] = found
    text = "".join(f"{key}\t{prefix}\n" for key, prefix in rows.items())
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_bytes(gzip.compress(text.encode("ascii"), 9, mtime=0))
    print(f"{len(rows)} rows, {TABLE.stat().st_size} bytes")


def prefixes(country: str) -> dict[tuple[str, str], str]:
    """The shortest first figures by place, and by state where places are told apart so."""
    begins = str(country_code_for_region(country))
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for prefix, names in GEOCODE_DATA.items():
        if not prefix.startswith(begins) or "en" not in names:
            continue
        figures = prefix.removeprefix(begins)
        parts = [part.strip() for part in BETWEEN.split(names["en"]) if part.strip()]
        if not figures or not parts:
            continue
        if country in ("US", "CA"):
            found[key_of(parts[0]), parts[1] if len(parts) > 1 else ""].append(figures)
        else:
            for part in parts:
                found[key_of(part), ""].append(figures)
    return {key: min(all_of_them, key=lambda one: (len(one), one)) for key, all_of_them in found.items()}


def key_of(name: str) -> str:
    """A name without the words that say what kind of place it is."""
    return fold(GENERIC.sub(" ", name))


if __name__ == "__main__":
    main()
