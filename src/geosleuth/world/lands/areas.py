"""With which figures the telephone numbers of towns begin; ``scripts/build_area_codes.py`` makes the table."""

import gzip
from functools import cache
from importlib.resources import files


@cache
def areas() -> dict[str, str]:
    """First figures behind the country's code, by GeoNames number ("2950159") and by region ("BR.27")."""
    data = gzip.decompress((files("geosleuth.world.lands") / "data" / "areas.tsv.gz").read_bytes())
    return dict(line.split("\t") for line in data.decode("ascii").splitlines())
