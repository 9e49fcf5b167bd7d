"""Searching the web and for pictures online, for those who want it; docs/online.md tells the user's side.

    make_web("brave", OnlineSettings(allow_hosts=frozenset({"api.search.brave.com"})))

Nothing leaves the machine without the user's say, naming the host; nothing that is found leads to another request.
"""

from .choose import IMAGE_NAMES, WEB_NAMES, make_image_search, make_web, search_hosts
from .images import ImageService, Published
from .pages import WebService

__all__ = [
    "IMAGE_NAMES",
    "WEB_NAMES",
    "ImageService",
    "Published",
    "WebService",
    "make_image_search",
    "make_web",
    "search_hosts",
]
