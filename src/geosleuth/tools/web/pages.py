"""Web search: a query goes out, pages come back as documents."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

from geosleuth.atlas import Document
from geosleuth.atlas.online.http import Question, parse_json
from geosleuth.atlas.online.replies import Object, clean, need_object, query_text
from geosleuth.errors import ServiceFault

from .plain import plain, web_address
from .service import SearchService

_QUERY_CHARS = 400
_TITLE_CHARS = 200
_SNIPPET_CHARS = 800
_MOST_ROWS = 200
_MOST_PIECES = 5


@dataclass(frozen=True, slots=True)
class Row:
    """One page as a service tells of it; nothing here is trusted to be what it should be."""

    title: object
    pieces: Iterable[object]
    url: object
    score: float | None = None


class WebService(SearchService):
    """A web search; each service says how it is asked and how its answer reads."""

    most: ClassVar[int] = 20
    """The most pages that may be asked for at once."""

    refused: ClassVar[str] = "did not answer"
    """What the statuses that a question calls absent mean here."""

    async def search(self, query: str, *, limit: int = 10) -> list[Document]:
        """Up to ``limit`` pages, as the service ranks them."""
        words = query_text(query, _QUERY_CHARS)
        if not words or limit < 1:
            return []
        found = await self.client.ask(self.asked(words, min(limit, self.most)), lambda body: self._decode(body, limit))
        if found is None:
            raise ServiceFault(self.host, self.refused)
        return found

    def asked(self, words: str, count: int) -> Question:
        """The question to put."""
        raise NotImplementedError

    def rows(self, answer: Object) -> Iterator[Row]:
        """The pages in a parsed answer.

        Raises:
            ServiceFault: the answer has another shape than the service documents.
        """
        raise NotImplementedError

    def read(self, body: bytes) -> Iterator[Row]:
        """The pages in an answer; JSON, unless a service overrides this."""
        return self.rows(need_object(parse_json(body, self.host), self.host))

    def _decode(self, body: bytes, limit: int) -> list[Document]:
        # All of it while the client still listens, so that an answer that can't be read is not kept.
        found: dict[str, Document] = {}
        for row in islice(self.read(body), _MOST_ROWS):
            url = web_address(row.url)
            if url is None or url in found:
                continue
            document = self._document(row, url, rank=len(found) + 1)
            if document is not None:
                found[url] = document
            if len(found) == limit:
                break
        return list(found.values())

    def _document(self, row: Row, url: str, rank: int) -> Document | None:
        title = plain(row.title, _TITLE_CHARS)
        pieces = dict.fromkeys(plain(piece, _SNIPPET_CHARS) for piece in islice(row.pieces, _MOST_PIECES))
        snippet = clean(" … ".join(piece for piece in pieces if piece), _SNIPPET_CHARS)
        if not (title or snippet):
            return None
        hide = self.credentials.scrub
        score = row.score if row.score is not None and 0 <= row.score <= 1 else 1 / rank
        identity = hashlib.sha256(url.encode()).hexdigest()[:16]
        return Document(f"{self.name}:{identity}", hide(title or url), hide(snippet), score, self.name, hide(url))


def listed(answer: Object, field: str, host: str) -> Iterator[Object]:
    """The objects in a list that an answer must have; what is no object is passed over.

    Raises:
        ServiceFault: there is no such list.
    """
    found = answer.get(field)
    if not isinstance(found, list):
        raise ServiceFault(host, f'answered in an unexpected shape: "{field}" is not a list')
    return (one for one in found if isinstance(one, dict))


def texts(value: object) -> list[object]:
    """A list as it is, a single value as a list of one."""
    return value if isinstance(value, list) else [value]
