"""Answer geocoding queries with Nominatim's Python library; run by the Python of Nominatim's environment.

    python nominatim_worker.py PROJECT

Reads a JSON object per line of stdin and writes one per line of stdout.

- Input: ``queries`` (each a text or [latitude, longitude]), ``limit``, and ``box`` (south, west, north, east).
- Output: ``found`` (a list of results per query), ``ms`` (the wall time of each query), and ``cpu_s`` (the CPU time of
  this process for all of them).
"""

import asyncio
import json
import sys
import time
from typing import Any

import nominatim_api as napi  # type: ignore[import-not-found]

LOCALES = napi.Locales(["en"])


def result_fields(result: Any) -> dict[str, Any]:
    """Return the fields of a result that the benchmark judges, as JSON types."""
    box = result.bbox
    return {
        "point": [result.centroid.y, result.centroid.x],
        "box": None if box is None else [box.minlat, box.minlon, box.maxlat, box.maxlon],
        "country": result.country_code,
        "name": result.display_name,
    }


async def search(api: napi.NominatimAPIAsync, query: Any, limit: int, box: napi.Bbox) -> Any:
    """Return the results in a box, best first, with addresses, as Nominatim's web server does."""
    if isinstance(query, str):
        found: Any = await api.search(query, address_details=True, max_results=limit, viewbox=box, bounded_viewbox=True)
    else:
        here = await api.reverse(napi.Point(query[1], query[0]), address_details=True)
        found = [] if here is None else [here]
    LOCALES.localize_results(found)
    return found


async def run_queries(api: napi.NominatimAPIAsync, request: dict[str, Any]) -> dict[str, Any]:
    """Run the queries of one input line, and return the output line."""
    south, west, north, east = request["box"]
    box = napi.Bbox(west, south, east, north)
    taken_ms, found = [], []
    cpu_begin = time.process_time()
    for query in request["queries"]:
        begin = time.perf_counter()
        found.append(await search(api, query, request["limit"], box))
        taken_ms.append(1000 * (time.perf_counter() - begin))
    cpu_s = time.process_time() - cpu_begin
    return {
        "found": [[result_fields(result) for result in results] for results in found],
        "ms": taken_ms,
        "cpu_s": cpu_s,
    }


async def main() -> None:
    """Answer input lines until stdin ends."""
    async with napi.NominatimAPIAsync(sys.argv[1]) as api:
        for line in sys.stdin:
            print(json.dumps(await run_queries(api, json.loads(line))), flush=True)


asyncio.run(main())
