"""What a server has at hand: models that could be asked, and regions of the atlas."""

import shlex
import time

from geosleuth.app.cli.handlers.reach import within_reach
from geosleuth.policies.services import SERVICES

from .keys import Keys
from .shown import ModelShown

FRESH_S = 5.0
"""For how long the answer of the servers on this machine holds: a page asks more often than they change."""

_known: dict[bool, tuple[float, list[ModelShown]]] = {}


def models_within_reach(keys: Keys, *, offline: bool) -> list[ModelShown]:
    """Models that could be asked as things stand, the detective first. May wait: call it in a thread."""
    found = [ModelShown(model="detective", base_url=None, words="no model: works on this machine, from clues in code")]
    found += _found(offline=offline)
    if not offline:
        known = {one.model.partition(":")[0] for one in found}
        found += [
            ModelShown(model=f"{one.service}:NAME", base_url=None, words=f"its key is in {_PLACES[one.where]}")
            for one in keys.states()
            if one.where in _PLACES and not SERVICES[one.service].own and one.service not in known
        ]
    return found


def region_names() -> list[str]:
    """Names of the regions that were added to the atlas. Reads a folder: call it in a thread."""
    from geosleuth.atlas.offline import regions_dir
    from geosleuth.atlas.regions.store import RegionStore

    return RegionStore(regions_dir()).names()


_PLACES = {"memory": "this server's memory", "keyring": "the system's keyring"}


def _found(*, offline: bool) -> list[ModelShown]:
    now = time.monotonic()
    at, found = _known.get(offline, (0.0, []))
    if not at or now - at > FRESH_S:
        found = [_shown(one.flag, one.where) for one in within_reach(offline=offline)]
        _known[offline] = now, found
    return found


def _shown(flags: str, where: str) -> ModelShown:
    """The flags of the command, as fields of a request."""
    words = shlex.split(flags)
    given = dict(zip(words[::2], words[1::2], strict=False))
    return ModelShown(model=given.get("--model", ""), base_url=given.get("--base-url"), words=where)
