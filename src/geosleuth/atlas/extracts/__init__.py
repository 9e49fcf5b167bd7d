"""Maps by name: a catalogue of public extracts, the one that a name means, and its download.

    async with OnlineClient(settings) as client:
        catalogue = await fetch_catalogue(client, OFFICIAL)
        meant = await find_extract(catalogue, "Schweiz")
        offer = await ask_offer(client, meant.extract.url)
        await download(client, offer, path)

Nothing is asked of a host that the settings do not name. What a catalogue says is data, read with suspicion.
"""

from .catalogue import OFFICIAL, Catalogue, Extract, Meant, fetch_catalogue, find_extract
from .download import Offer, ask_offer, check_room, download, downloads_dir, dropped

__all__ = [
    "OFFICIAL",
    "Catalogue",
    "Extract",
    "Meant",
    "Offer",
    "ask_offer",
    "check_room",
    "download",
    "downloads_dir",
    "dropped",
    "fetch_catalogue",
    "find_extract",
]
