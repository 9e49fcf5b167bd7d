"""Web and mail addresses: the domain's country. ``.com`` says nothing, and some countries sell theirs to anyone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from geosleuth.atlas.facts import by_tld

from .clue import TextSeen
from .country_prior import as_seen
from .text_clue import ClueDraft

_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_MARKED = re.compile(
    rf"(?:https?\s*[:;]?\s*//\s*|www\s*[.,]\s*|@\s?)((?:{_LABEL}\s?[.,]\s?)+[^\W\d_]{{2,24}})", re.IGNORECASE
)
_BARE = re.compile(rf"(?<![\w.@-])((?:{_LABEL}\.){{1,3}}([a-z]{{2,6}}))(?![\w.-])")
_BARE_CAPITALS = re.compile(r"(?<![\w.@-])((?:[A-Z0-9-]{4,}\.)(?:(?:CO|COM|NET|ORG)\.)?([A-Z]{2,3}))(?![\w.-])")
_GLUED = re.compile(r"(?<!\w)www([a-z0-9-]{3,}\.[a-z]{2,6})(?![\w.-])", re.IGNORECASE)
_MIN_LABEL_CHARS = 3
_SECOND_LEVELS = frozenset({"co", "com", "net", "org", "gov", "edu", "ac", "or", "ne", "go"})
_FILE_ENDINGS = frozenset({"jpg", "png", "pdf", "doc", "txt", "exe"})


@dataclass(frozen=True, slots=True)
class AddressSeen:
    """A host name as it stands in a line, in small letters without blanks."""

    host: str
    where: TextSeen

    @property
    def label(self) -> str:
        """The name that its owner registered: "hotel-paris" of "www.hotel-paris.mc"."""
        return extract_label(self.host)


def extract_label(host: str) -> str:
    """The part of a host name that its owner chose: "hotel-paris" of "www.hotel-paris.co.uk"."""
    parts = [part for part in host.split(".") if part != "www"] or [host]
    generic = len(parts) > 2 and parts[-2] in _SECOND_LEVELS
    return parts[-3] if generic else parts[-2] if len(parts) > 1 else parts[0]


def addresses_seen(lines: Sequence[TextSeen]) -> list[AddressSeen]:
    """Hosts of web and mail addresses, each once."""
    found: dict[str, AddressSeen] = {}
    for seen in lines:
        text = seen.text[:200]
        hosts = [match[1] for match in _MARKED.finditer(text)]
        if not hosts:
            hosts = [match[1] for match in _GLUED.finditer(text)]
        if not hosts:
            hosts = [
                match[1] for pattern in (_BARE, _BARE_CAPITALS) for match in pattern.finditer(text) if _plausible(match)
            ]
        for host in hosts:
            name = re.sub(r"\s*[.,]\s*", ".", host).lower().removeprefix("www.")
            found.setdefault(name, AddressSeen(name, seen))
    return list(found.values())


def _plausible(match: re.Match[str]) -> bool:
    label = extract_label(match[1].lower())
    return len(label) >= _MIN_LABEL_CHARS and not label.isdigit() and match[2].lower() not in _FILE_ENDINGS


def web_findings(addresses: Sequence[AddressSeen]) -> list[ClueDraft]:
    """Return the findings of the domains of the addresses."""
    found = []
    for address in addresses:
        evidence = by_tld(address.host)
        if evidence:
            sort = "tld.sold" if evidence.caution else "tld"
            countries = as_seen(evidence.shares)
            found.append(ClueDraft("tld", sort, address.host, evidence.note, countries, address.where, ("IANA",)))
    return found
