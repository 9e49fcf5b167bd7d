"""Download OpenStreetMap extracts by place name: read a catalogue, find the extract of a place, fetch its file.

    async with OnlineClient(settings) as client:
        catalogue = await fetch_catalogue(client, OFFICIAL)
        match = await find_extract(catalogue, "Schweiz")
        offer = await ask_offer(client, match.extract.url)
        await download(client, offer, path)

Only hosts that the settings allow are contacted. A catalogue is untrusted input; see `catalogue` for what is checked.
"""

from .catalogue import OFFICIAL, Catalogue, Extract, ExtractMatch, fetch_catalogue, find_extract
from .download import Offer, ask_offer, check_room, delete_download, download, downloads_dir

__all__ = [
    "OFFICIAL",
    "Catalogue",
    "Extract",
    "ExtractMatch",
    "Offer",
    "ask_offer",
    "check_room",
    "delete_download",
    "download",
    "downloads_dir",
    "fetch_catalogue",
    "find_extract",
]
