"""What signs say in some seventy countries and languages, written down for made-up scenes alone.

Nothing here is taken from the tables of the detective, and nothing there may be taken from here: scenes measure it.
Towns stand as on their own signs, with degrees north and east, a postcode and an area code where scenes use them.
"""

from .cues import COACHES, CUES, NAMED_AFTER_TOWNS, SURNAMES, Cue
from .east import EAST
from .land import Land, Town
from .speech import TONGUES, WORLD_LANDS, land_of, tongue_of
from .tongue import KINDS, Tongue
from .west import WEST

__all__ = [
    "COACHES",
    "CUES",
    "KINDS",
    "LANDS",
    "NAMED_AFTER_TOWNS",
    "SURNAMES",
    "TONGUES",
    "WORLD_LANDS",
    "Cue",
    "Land",
    "Tongue",
    "Town",
    "land_of",
    "tongue_of",
]

LANDS: tuple[Land, ...] = (*WEST, *EAST)
"""Every second town is for calibration, the others are held out; so are the words."""
