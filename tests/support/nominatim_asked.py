"""Ask Nominatim's own Python library; run with the Python of its own environment.

    python nominatim_asked.py PROJECT

Each line of stdin is a JSON object: ``queries``, each a text or [latitude, longitude], ``limit``, and ``box`` as south,
west, north, east. The line of the answer has what was found for each query, the milliseconds it took, and the CPU
seconds of this process for all of them.
"""

import asyncio
import json
import sys
import time
from typing import Any

import nominatim_api as napi  # type: ignore[import-not-found]

LOCALES = napi.Locales(["en"])


def told(result: Any) -> dict[str, Any]:
    """What is judged, in plain types."""
    box = result.bbox
    return {
        "point": [result.centroid.y, result.centroid.x],
        "box": None if box is None else [box.minlat, box.minlon, box.maxlat, box.maxlon],
        "country": result.country_code,
        "name": result.display_name,
    }


async def ask(api: napi.NominatimAPIAsync, query: Any, limit: int, box: napi.Bbox) -> Any:
    """What is found in a box, best first, with addresses, as the web server asks for it."""
    if isinstance(query, str):
        found: Any = await api.search(query, address_details=True, max_results=limit, viewbox=box, bounded_viewbox=True)
    else:
        one = await api.reverse(napi.Point(query[1], query[0]), address_details=True)
        found = [] if one is None else [one]
    LOCALES.localize_results(found)
    return found


async def answers(api: napi.NominatimAPIAsync, given: dict[str, Any]) -> dict[str, Any]:
    """Ask a set of queries, and say what came of it."""
    south, west, north, east = given["box"]
    box = napi.Bbox(west, south, east, north)
    taken, found = [], []
    busy = time.process_time()
    for query in given["queries"]:
        begin = time.perf_counter()
        found.append(await ask(api, query, given["limit"], box))
        taken.append(1000 * (time.perf_counter() - begin))
    busy = time.process_time() - busy
    return {"found": [[told(one) for one in some] for some in found], "ms": taken, "cpu_s": busy}


async def main() -> None:
    """Answer sets of queries, one in a line, until there are no more."""
    async with napi.NominatimAPIAsync(sys.argv[1]) as api:
        for line in sys.stdin:
            print(json.dumps(await answers(api, json.loads(line))), flush=True)


asyncio.run(main())
