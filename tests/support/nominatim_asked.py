"""Ask Nominatim's own Python library; run with the Python of its own environment.

    python nominatim_asked.py PROJECT

The first line of stdin is a JSON object: ``queries`` and ``warm_up``, each a text or [latitude, longitude],
``limit`` and ``box``, as south, west, north, east. After the warm-up "warm" is printed and a second line awaited. Then come, as one line of JSON, what was found
for each query with the milliseconds it took, and the CPU seconds of this process for all of them.
"""

import asyncio
import json
import sys
import time
from typing import Any

import nominatim_api as napi

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
        found: Any = await api.search(
            query, address_details=True, max_results=limit, viewbox=box, bounded_viewbox=True
        )
    else:
        one = await api.reverse(napi.Point(query[1], query[0]), address_details=True)
        found = [] if one is None else [one]
    LOCALES.localize_results(found)
    return found


async def main() -> None:
    """Ask all, and say what came of it."""
    given = json.loads(sys.stdin.readline())
    south, west, north, east = given["box"]
    box = napi.Bbox(west, south, east, north)
    async with napi.NominatimAPIAsync(sys.argv[1]) as api:
        for query in given["warm_up"]:
            await ask(api, query, given["limit"], box)
        print("warm", flush=True)
        sys.stdin.readline()
        taken, answers = [], []
        busy = time.process_time()
        for query in given["queries"]:
            begin = time.perf_counter()
            answers.append(await ask(api, query, given["limit"], box))
            taken.append(1000 * (time.perf_counter() - begin))
        busy = time.process_time() - busy
        found = [[told(one) for one in answer] for answer in answers]
        print(json.dumps({"found": found, "ms": taken, "cpu_s": busy}), flush=True)


asyncio.run(main())
