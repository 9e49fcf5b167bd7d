"""From a target to pydantic-ai's model for it, over a client without redirects, endless replies or compression.

Most providers' packages use httpx2, one still uses httpx; the two take the same arguments and hooks.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from importlib import import_module
from typing import Any

import httpx
import httpx2
from pydantic_ai.models import Model
from pydantic_ai.profiles.openai import OpenAIModelProfile

from geosleuth.models.endpoints import EndpointSettings
from geosleuth.models.registry import ModelTarget, aws_region
from geosleuth.support.errors import ServiceFault, require

_REDIRECTS = range(300, 400)

_LISTED = EndpointSettings(connect_s=2.0, try_s=5.0)
# User agent of requests for a server's list of models.
LISTING_USER_AGENT = "geosleuth-models"
Client = httpx2.AsyncClient | httpx.AsyncClient
_Builder = Callable[[ModelTarget, Any], Model[Any]]
_NO_KEY = "no-key"
# Prefixes of pydantic-ai's class names, by service.
_NAMES = {"anthropic": "Anthropic", "google": "Google", "groq": "Groq", "mistral": "Mistral", "ollama": "Ollama"}
# Servers that people run themselves know the older name of the length limit, and not all know the newer one.
_OWN_SERVER = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)


def new_client(target: ModelTarget, settings: EndpointSettings) -> httpx2.AsyncClient:
    """Return a client for one target; the caller closes it."""
    client: httpx2.AsyncClient = _new_client(httpx2, target, settings)
    return client


def _new_client(package: Any, target: ModelTarget, settings: EndpointSettings) -> Any:
    return package.AsyncClient(
        timeout=package.Timeout(settings.try_s, connect=settings.connect_s),
        limits=package.Limits(max_connections=settings.concurrency),
        **_options(target, settings),
    )


def _options(target: ModelTarget, settings: EndpointSettings) -> dict[str, Any]:
    async def check(response: Any) -> None:
        _check_response(response, target.host, settings.max_reply_bytes)

    return {
        "follow_redirects": False,
        # No proxy and no .netrc of the environment: photos and keys go to the host that was named, and past no other.
        "trust_env": False,
        "verify": _certificates(target.host) if target.base_url.lower().startswith("https:") else True,
        "headers": {"Accept-Encoding": "identity"},
        "event_hooks": {"response": [check]},
    }


def _certificates(host: str) -> ssl.SSLContext:
    """The system's, or those that SSL_CERT_FILE or SSL_CERT_DIR name: whom to trust sends nothing anywhere.

    Raises:
        ServiceFault: they can't be read.
    """
    try:
        return httpx2.create_ssl_context()
    except OSError as error:
        trouble = f"can't be asked: the certificates that SSL_CERT_FILE or SSL_CERT_DIR name can't be read: {error}"
        raise ServiceFault(host, trouble) from error


def _check_response(response: Any, host: str, max_bytes: int) -> None:
    """Look at a reply before its body is read."""
    if response.status_code in _REDIRECTS:
        raise ServiceFault(
            host, f"redirects (status {response.status_code}); photos are not sent on: give its new address"
        )
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise ServiceFault(host, "sends a compressed reply, which it was asked not to")
    length = response.headers.get("content-length", "")
    if length.isdecimal() and int(length[:18]) > max_bytes:
        raise _too_long(host, max_bytes)
    response.stream = _Capped(response.stream, host, max_bytes)


class _Capped(httpx.AsyncByteStream, httpx2.AsyncByteStream):
    """A body that breaks off with an error when it gets too long."""

    def __init__(self, inner: Any, host: str, max_bytes: int) -> None:
        self._inner = inner
        self._host = host
        self._left = self._max_bytes = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._inner:
            self._left -= len(piece)
            if self._left < 0:
                raise _too_long(self._host, self._max_bytes)
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


def _too_long(host: str, max_bytes: int) -> ServiceFault:
    return ServiceFault(host, f"sends a reply of more than {max_bytes} bytes; this is no model's reply")


async def fetch_model_entry(target: ModelTarget) -> dict[str, Any]:
    """Return the entry of a model in its server's own list; empty where there is none."""
    key = {"Authorization": f"Bearer {target.key.reveal()}"} if target.key else {}
    try:
        async with asyncio.timeout(_LISTED.try_s), new_client(target, _LISTED) as client:
            reply = await client.get(f"{target.base_url}/models", headers={**key, "User-Agent": LISTING_USER_AGENT})
            listed = reply.json()["data"]
            return next((item for item in listed if isinstance(item, dict) and item.get("id") == target.model), {})
    except (httpx2.HTTPError, ServiceFault, TimeoutError, ValueError, LookupError, TypeError, RecursionError):
        return {}


def build_model(target: ModelTarget, settings: EndpointSettings) -> tuple[Model[Any], Client | None]:
    """The model, and the client whose connections it uses; the caller closes it. No connection is opened yet."""
    prefix = target.service.prefix
    if prefix == "bedrock":
        return _bedrock(target, settings), None
    # The package that speaks to Groq has not moved to httpx2.
    client = _new_client(httpx if prefix == "groq" else httpx2, target, settings)
    build: _Builder = _BUILDERS.get(prefix, _own_server)
    return build(target, client), client


def _reveal_key(target: ModelTarget) -> str:
    return target.key.reveal() if target.key else _NO_KEY


def _openai(target: ModelTarget, client: httpx2.AsyncClient) -> Model[Any]:
    if not target.at_its_makers:
        # Most servers that speak as OpenAI does know chat completions alone.
        return _own_server(target, client)
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=target.base_url, api_key=_reveal_key(target), http_client=client)
    return OpenAIResponsesModel(target.model, provider=provider)


def _build_provider_model(target: ModelTarget, client: Client) -> Model[Any]:
    """The model of a service that pydantic-ai has a provider for, in modules of its name."""
    prefix = target.service.prefix
    parts = (("providers", "Provider"), ("models", "Model"))
    provider: Any
    model: Any
    provider, model = (
        getattr(import_module(f"pydantic_ai.{kind}.{prefix}"), f"{_NAMES[prefix]}{ending}") for kind, ending in parts
    )
    made: Model[Any] = model(
        target.model, provider=provider(base_url=target.base_url, api_key=_reveal_key(target), http_client=client)
    )
    return made


def _openrouter(target: ModelTarget, client: httpx2.AsyncClient) -> Model[Any]:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openrouter import OpenRouterModel
    from pydantic_ai.providers.openrouter import OpenRouterProvider

    spoken = AsyncOpenAI(base_url=target.base_url, api_key=_reveal_key(target), http_client=client)
    return OpenRouterModel(target.model, provider=OpenRouterProvider(openai_client=spoken))


def _own_server(target: ModelTarget, client: httpx2.AsyncClient) -> Model[Any]:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles import merge_profile
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
    from pydantic_ai.providers.vllm import VLLMProvider

    if target.service.prefix == "vllm":
        vllm = VLLMProvider(base_url=target.base_url, api_key=_reveal_key(target), http_client=client)
        profile = merge_profile(VLLMProvider.model_profile(target.model), _OWN_SERVER)
        return OpenAIChatModel(target.model, provider=vllm, profile=profile)
    any_server = OpenAICompatibleProvider(
        target.service.prefix,
        base_url=target.base_url,
        api_key=_reveal_key(target),
        http_client=client,
        profile=_OWN_SERVER,
    )
    return OpenAIChatModel(target.model, provider=any_server)


def _bedrock(target: ModelTarget, settings: EndpointSettings) -> Model[Any]:
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    config = require("botocore.config", extra="models").Config(
        retries={"total_max_attempts": 1},
        # Left out, botocore takes the proxies of the environment.
        proxies={},
        connect_timeout=settings.connect_s,
        read_timeout=settings.try_s,
        max_pool_connections=settings.concurrency,
    )
    session = require("boto3", extra="models").Session(region_name=aws_region())
    client = session.client("bedrock-runtime", config=config, endpoint_url=target.base_url)
    return BedrockConverseModel(target.model, provider=BedrockProvider(bedrock_client=client))


_BUILDERS: dict[str, _Builder] = {
    "openai": _openai,
    "openrouter": _openrouter,
    **dict.fromkeys(_NAMES, _build_provider_model),
}
