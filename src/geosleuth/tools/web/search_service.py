"""Common part of search services: a guarded client, consent, a key, and plain text from their replies."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal
from urllib.parse import urlsplit

from geosleuth.atlas.online import OnlineClient, OnlineSettings
from geosleuth.atlas.online.access import BearerKey, Credentials, check_consent, key_from_environment
from geosleuth.atlas.online.base import OnlineService
from geosleuth.atlas.online.http import ServiceRequest
from geosleuth.atlas.online.replies import clean
from geosleuth.support.text.html import VisibleText

_ADDRESS_CHARS = 2000
# More than once, since some services escape what is escaped already.
_PASSES = 3


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """Environment variable of a service's key, and its position in requests."""

    variable: str
    where: Literal["header", "bearer", "param"]
    field: str

    def credentials(self, service: str, settings: OnlineSettings) -> Credentials:
        """The key, read from the environment.

        Raises:
            BadInput: it is not set, or holds what no key is made of.
        """
        secret = key_from_environment(self.variable, service, settings)
        match self.where:
            case "param":
                return Credentials(params={self.field: secret})
            case "bearer":
                return Credentials(headers={self.field: BearerKey(secret.reveal(), self.variable)})
            case _:
                return Credentials(headers={self.field: secret})


class SearchService(OnlineService):
    """A search service. Its host must be allowed, and its key at hand, before there is one at all."""

    title: ClassVar[str]
    key: ClassVar[KeyPlace | None] = None
    spacing_s: ClassVar[float] = 0.2
    keep_hours: ClassVar[float] = 0.0

    def __init__(self, client: OnlineClient) -> None:
        """Ask through a client. Nothing is sent yet."""
        super().__init__(client)
        check_consent(self.address(), self.settings)
        self.credentials = self.key.credentials(self.title, self.settings) if self.key else Credentials()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.host})"

    def asking(
        self, path: str, params: Mapping[str, str | int | float | None] | None = None, *, keep: bool = True, **more: Any
    ) -> ServiceRequest:
        """A question to this service, with its key; see `OnlineService.question`."""
        asked = self.question(path, params or {}, credentials=self.credentials, **more)
        return asked if keep else replace(asked, keep_s=0.0)


def plain(value: object, max_chars: int) -> str:
    """One line of text without tags, scripts and entities, cut to length; empty where there is none."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return ""
    # Tags take room too; a limit keeps a huge text from costing time.
    text = value[: 3 * max_chars + 256]
    for _ in range(_PASSES):
        if "<" in text or "&" in text:
            words = VisibleText()
            # Not closed, since an unfinished tag is no text and closing may take very long. The space ends an entity.
            words.feed(f"{text} ")
            text = "".join(words.pieces)
    return clean(text, max_chars)


def web_address(value: object) -> str | None:
    """The address of a page, where it is one that a person could open: http or https, a host, no password."""
    if not isinstance(value, str):
        return None
    address = value.strip()
    if len(address) > _ADDRESS_CHARS or clean(address, _ADDRESS_CHARS) != address or " " in address:
        return None
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.username is None
        _ = parts.port
    except ValueError:
        return None
    return address if usable else None
