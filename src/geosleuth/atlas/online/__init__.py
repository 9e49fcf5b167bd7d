"""Optional online map services behind the atlas protocol; docs/how-to/go-online.md is the user's guide.

    make_online("nominatim", OnlineSettings(allow_hosts=frozenset({"nominatim.openstreetmap.org"})))

Nothing is sent to a host that the user has not named.
"""

from .access import OnlineSettings, Recording, TileSource
from .http import OnlineClient
from .router import ONLINE_NAMES, BackedAtlas, RegionRouter, announcing_takeovers, make_online

__all__ = [
    "ONLINE_NAMES",
    "BackedAtlas",
    "OnlineClient",
    "OnlineSettings",
    "Recording",
    "RegionRouter",
    "TileSource",
    "announcing_takeovers",
    "make_online",
]
