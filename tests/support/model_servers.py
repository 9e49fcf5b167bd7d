"""Stand-ins for Ollama, LM Studio, vLLM and llama.cpp: their own addresses beside OpenAI's, for `openai_server`."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from locating import FINAL
from openai_server import Reply, Request, failure


def reply(document: Any) -> Reply:
    """A document as the body."""
    return Reply(json.dumps(document).encode())


def progress(*shares: float, size: int = 3_300_000_000) -> Reply:
    """What Ollama says while it fetches a model: JSON lines, the last of them a success."""
    told: list[dict[str, Any]] = [{"status": "pulling manifest"}]
    told += [{"status": "pulling a", "digest": "a", "total": size, "completed": round(size * one)} for one in shares]
    return Reply("".join(json.dumps(one) + "\n" for one in [*told, {"status": "success"}]).encode())


def speaks(
    kind: str, *, models: Sequence[str] = ("sees:4b", "blind:7b"), pull: Reply | None = None
) -> Callable[[Request], Reply]:
    """A server of this kind; a model that Ollama fetched is on its list from then on."""
    names = list(models)

    def sees(name: str) -> bool:
        return not name.startswith("blind")

    def answer(request: Request) -> Reply:  # noqa: PLR0911  (one return an address)
        path = request.path.partition("?")[0]
        if path == "/v1/models":
            return reply({"object": "list", "data": [{"id": one} for one in names]})
        if path == "/v1/chat/completions":
            return FINAL
        match kind, path:
            case "ollama", "/api/show":
                return reply({"capabilities": ["completion", *(["vision"] if sees(request.json["model"]) else [])]})
            case "ollama", "/api/version":
                return reply({"version": "0.12.9"})
            case "ollama", "/api/pull":
                names.append(request.json["model"])
                return pull or progress(0.1, 0.6, 1.0)
            case "lmstudio", "/api/v0/models":
                return reply({"data": [{"id": one, "type": "vlm" if sees(one) else "llm"} for one in names]})
            case "server", "/props":
                return reply({"modalities": {"vision": True}})
        return failure(404)

    return answer
