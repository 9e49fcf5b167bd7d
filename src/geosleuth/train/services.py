"""Online maps and web searches in rollouts: one process a machine asks them, every answer is kept, a rerun asks nobody.

rollout: {maps: nominatim, web: tavily, allow: [nominatim.openstreetmap.org, api.tavily.com], answers: answers.sqlite}
rollout: {maps: nominatim, web: tavily, answers: answers.sqlite, replay: true}
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

from geosleuth.agent.setup import Resources
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.online import Recording
from geosleuth.atlas.online.answer_server import serving_answers
from geosleuth.data.factory import Services
from geosleuth.errors import BadInput
from geosleuth.pipeline.plan import online_maps, server_settings, web_search

from .recipe import Recipe, RolloutPart

_log = logging.getLogger(__name__)


def is_online(rollout: RolloutPart) -> bool:
    """Return whether tools ask online services, or repeat what these once answered."""
    return rollout.maps is not None or rollout.web is not None


def resources_of(recipe: Recipe) -> Resources:
    """Return what tools ask about photos: the services of a recipe with the offline atlas behind them, or that alone.

    Raises:
        BadInput: a service can't be used.
    """
    rollout = recipe.rollout
    offline = OfflineAtlas(tiles=rollout.tiles)
    if not is_online(rollout) or rollout.answers is None:
        return Resources(offline)
    record = Recording(rollout.answers.absolute(), only=rollout.replay, shared=True)
    request = _services(rollout).request()
    return Resources(online_maps(request, record, offline) or offline, web_search(request, record))


def check_services(recipe: Recipe) -> None:
    """Check that the fields about services go together.

    Raises:
        BadInput: they don't; the message says what to change.
    """
    rollout = recipe.rollout
    if not is_online(rollout):
        for name in ("maps_url", "allow", "answers", "replay"):
            if getattr(rollout, name):
                raise BadInput(f"rollout.{name}: is about online services; name them as rollout.maps or rollout.web")
        return
    if not recipe.data.photos:
        raise BadInput("rollout.maps, rollout.web: drawn scenes stand on their world's own map; give data.photos")
    if rollout.answers is None:
        raise BadInput("rollout.answers: name the file that keeps every answer of rollout.maps and rollout.web")
    if rollout.replay and not rollout.answers.is_file():
        raise BadInput(
            f"rollout.answers: there is no {rollout.answers} to repeat; leave out rollout.replay to record it"
        )


def _services(rollout: RolloutPart) -> Services:
    return Services(web_search=rollout.web, maps=rollout.maps, maps_url=rollout.maps_url, allow=rollout.allow)


@contextmanager
def answers_served(recipe: Recipe) -> Iterator[None]:
    """Run the process that asks services for all workers of this machine, where a recipe needs one.

    Where several processes train on a machine, the first of them starts it.

    Raises:
        BadInput: another run on this machine records into the same file.
    """
    rollout = recipe.rollout
    first_here = os.environ.get("LOCAL_RANK", "0") == "0"
    if not is_online(rollout) or rollout.replay or rollout.answers is None or not first_here:
        yield
        return
    settings = server_settings(_services(rollout).request())
    with serving_answers(settings, rollout.answers.absolute()) as server:
        yield
        counts = server.counts()
    _log.info("online services: %s", ", ".join(f"{name} {number}" for name, number in sorted(counts.items())))
    if counts["inexact"]:
        _log.warning(
            "%s: %d calls failed for some replies and worked later; a rerun from it gives all of them the answer",
            rollout.answers,
            counts["inexact"],
        )
