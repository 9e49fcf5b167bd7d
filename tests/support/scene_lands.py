"""What signs say in some seventy countries and languages, written down for made-up scenes alone.

Nothing here is taken from the tables of the detective, and nothing there may be taken from here: scenes measure it.
Towns stand as on their own signs, with degrees north and east, a postcode and an area code where scenes use them.
"""

from scene_land import Land, Town
from scene_lands_east import EAST
from scene_lands_west import WEST

__all__ = ["LANDS", "Land", "Town"]

LANDS: tuple[Land, ...] = (*WEST, *EAST)
"""Every second town is for calibration, the others are held out; so are the words."""
