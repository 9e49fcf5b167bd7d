"""Chats of photos with points: a method's question without tools, and the true place in its answer form.

SpotAgent fine-tunes on 200,000 of these, tables of photo, latitude and longitude (SpotSFT).
"""

import hashlib
import json
from collections.abc import AsyncIterator, Callable

from geosleuth.agent import Method
from geosleuth.agent.methods import method
from geosleuth.atlas import Atlas
from geosleuth.lab.bench.sets import DataSet, Item, subset
from geosleuth.lab.bench.sets.dataset import refuse_test
from geosleuth.lab.score import Truth
from geosleuth.lab.traces.factory.trial import compute_id, pictures, timeless, without_metadata
from geosleuth.names import country_code, country_name
from geosleuth.photo import open_photo
from geosleuth.support.errors import BadInput

from .geoagent import run_reply
from .rows import Made, Rejected, Sample
from .spotagent import judge_assembled

SOURCE = "photos"
_BY = "the data set's own truth"


async def photo_chats(
    data: DataSet,
    way: str | Method,
    atlas: Atlas,
    *,
    is_known: Callable[[str], bool],
    split: str = "train",
    limit: int | None = None,
) -> AsyncIterator[Made]:
    """Yield a chat for each photo that is not known yet; photos that can't be opened are rejected.

    Raises:
        BadInput: the photos are for testing.
    """
    asked = method(way)
    for item in subset(data, limit=limit):
        refuse_test(data.card, item)
        key = f"photo-{hashlib.sha256(f'{data.card.name} {item.id}'.encode()).hexdigest()[:16]}"
        if is_known(key):
            continue
        try:
            yield await _make_chat(item, key, asked, atlas, split)
        except BadInput as error:
            yield Rejected(key=key, scene=key, source=SOURCE, reason="unusable_photo", detail=str(error))


async def _make_chat(item: Item, key: str, way: Method, atlas: Atlas, split: str) -> Made:
    photo, content = without_metadata(open_photo(item.picture.read()))
    truth = await complete_truth(item.truth, atlas)
    finding = await run_reply(photo, format_reply(truth, way.name), way, by=_BY, atlas=atlas)
    words = {} if way.prompts_sha256 is None else {"prompts": way.prompts_sha256}
    trajectory = timeless(finding.trajectory, compute_id({"by": _BY, "way": way.name, **words}, key))
    verdict = judge_assembled(trajectory)
    if not verdict.is_accepted or finding.album is None:
        return Rejected(key=key, scene=key, source=SOURCE, reason=verdict.reasons[0], detail=verdict.detail)
    images = pictures(trajectory, finding.album, content)
    return Sample(key=key, trajectory=trajectory, images=images, scene=key, source=SOURCE, split=split, truth=truth)


async def complete_truth(truth: Truth, atlas: Atlas) -> Truth:
    """Return the truth with country and city: the set's own, or those of the atlas at its point."""
    if truth.country and truth.city:
        return truth
    found = await atlas.reverse(truth.point)
    city = truth.city or next((hit.place.name for hit in found.places), None)
    return Truth(truth.point, truth.country or found.country_name, truth.region or found.region, city)


def format_reply(truth: Truth, way: str) -> str:
    """Return the true place in a method's answer form."""
    code = country_code(truth.country) if truth.country else None
    country = country_name(code) if code else truth.country or "unknown"
    city, point = truth.city or "unknown", truth.point
    if way == "twm":
        fields = {"lat": round(point.lat, 6), "lon": round(point.lon, 6), "city": city, "country": country}
        return json.dumps(fields, ensure_ascii=False)
    lines = (f"Country: {country}", f"City: {city}", f"Latitude: {point.lat:.6f}", f"Longitude: {point.lon:.6f}")
    return "\n".join(("<answer>", *lines, "</answer>"))
