"""A small open vision model through Ollama, for machines that have none. Ollama fetches it; we only ask it to."""

import json
import os
from collections.abc import AsyncIterator

from geosleuth.models.registry import SERVICES
from geosleuth.support.errors import BadInput
from geosleuth.support.net import is_loopback, parse_host
from geosleuth.support.text.safe import one_line

NOT_RUNNING = "Ollama does not run on this machine; install it (https://ollama.com), then run: ollama serve"
_MAX_LINE = 64 * 1024
_VARIABLE = "OLLAMA_BASE_URL"


async def ollama_root(seconds: float) -> str | None:
    """Return where Ollama answers on this machine; None where it does not."""
    import httpx

    url = os.environ.get(_VARIABLE) or SERVICES["ollama"].base_url or ""
    root = url.rstrip("/").removesuffix("/v1")
    if not is_loopback(parse_host(root)):
        return None
    try:
        async with httpx.AsyncClient(timeout=seconds, trust_env=False) as client:
            reply = await client.get(f"{root}/api/version")
            return root if reply.status_code == 200 and "version" in reply.json() else None
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, TypeError):
        return None


async def pull(root: str, model: str) -> AsyncIterator[tuple[int, int]]:
    """Have Ollama fetch a model; yield bytes that are there, and bytes of all that is known so far.

    Raises:
        BadInput: it could not.
    """
    import httpx

    parts: dict[str, tuple[int, int]] = {}
    # A large part may take long without a word; Ollama says something every second while it downloads.
    patience = httpx.Timeout(10.0, read=300.0)
    try:
        async with (
            httpx.AsyncClient(timeout=patience, trust_env=False) as client,
            client.stream("POST", f"{root}/api/pull", json={"model": model, "stream": True}) as reply,
        ):
            if reply.status_code != 200:
                raise BadInput(f"Ollama did not fetch {model}: it answered with status {reply.status_code}")
            async for line in reply.aiter_lines():
                told = json.loads(line[:_MAX_LINE])
                if "error" in told:
                    raise BadInput(f"Ollama did not fetch {model}: {one_line(str(told['error']))[:200]}")
                if told.get("status") == "success":
                    return
                if told.get("total"):
                    parts[str(told.get("digest"))] = int(told.get("completed", 0)), int(told["total"])
                    yield sum(done for done, _ in parts.values()), sum(total for _, total in parts.values())
    except (httpx.HTTPError, OSError) as error:
        raise BadInput(f"Ollama did not fetch {model}: the connection broke; the next try goes on") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise BadInput(f"Ollama did not fetch {model}: it answered something that is no progress") from error
    raise BadInput(f"Ollama did not fetch {model}: it broke off; the next try goes on")
