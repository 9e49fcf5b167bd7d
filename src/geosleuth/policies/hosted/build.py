"""From a target to pydantic-ai's model for it. Each provider's package is imported only where it is needed."""

from collections.abc import Callable
from typing import Any

import httpx
import httpx2
from pydantic_ai.models import Model
from pydantic_ai.profiles.openai import OpenAIModelProfile

from geosleuth.errors import require
from geosleuth.policies.endpoints import EndpointSettings
from geosleuth.policies.services import Target, aws_region

from .http import new_client, new_legacy_client

Client = httpx2.AsyncClient | httpx.AsyncClient
_NO_KEY = "no-key"
# Servers that people run themselves know the older name of the length limit, and not all know the newer one.
_OWN_SERVER = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)


def build_model(target: Target, settings: EndpointSettings) -> tuple[Model[Any], Client | None]:
    """The model, and the client whose connections it uses; the caller closes it. No connection is opened yet."""
    prefix = target.service.prefix
    if prefix == "bedrock":
        return _bedrock(target, settings), None
    if prefix == "groq":
        legacy = new_legacy_client(target, settings)
        return _groq(target, legacy), legacy
    client = new_client(target, settings)
    return _BUILDERS.get(prefix, _own_server)(target, client), client


def _key(target: Target) -> str:
    return target.key.reveal() if target.key else _NO_KEY


def _openai(target: Target, client: httpx2.AsyncClient) -> Model[Any]:
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=target.base_url, api_key=_key(target), http_client=client)
    return OpenAIResponsesModel(target.model, provider=provider)


def _anthropic(target: Target, client: httpx2.AsyncClient) -> Model[Any]:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(base_url=target.base_url, api_key=_key(target), http_client=client)
    return AnthropicModel(target.model, provider=provider)


def _google(target: Target, client: httpx2.AsyncClient) -> Model[Any]:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(base_url=target.base_url, api_key=_key(target), http_client=client)
    return GoogleModel(target.model, provider=provider)


def _mistral(target: Target, client: httpx2.AsyncClient) -> Model[Any]:
    from pydantic_ai.models.mistral import MistralModel
    from pydantic_ai.providers.mistral import MistralProvider

    provider = MistralProvider(base_url=target.base_url, api_key=_key(target), http_client=client)
    return MistralModel(target.model, provider=provider)


def _groq(target: Target, client: httpx.AsyncClient) -> Model[Any]:
    from pydantic_ai.models.groq import GroqModel
    from pydantic_ai.providers.groq import GroqProvider

    provider = GroqProvider(base_url=target.base_url, api_key=_key(target), http_client=client)
    return GroqModel(target.model, provider=provider)


def _openrouter(target: Target, client: httpx2.AsyncClient) -> Model[Any]:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openrouter import OpenRouterModel
    from pydantic_ai.providers.openrouter import OpenRouterProvider

    spoken = AsyncOpenAI(base_url=target.base_url, api_key=_key(target), http_client=client)
    return OpenRouterModel(target.model, provider=OpenRouterProvider(openai_client=spoken))


def _ollama(target: Target, client: httpx2.AsyncClient) -> Model[Any]:
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    provider = OllamaProvider(base_url=target.base_url, api_key=_key(target), http_client=client)
    return OllamaModel(target.model, provider=provider)


def _own_server(target: Target, client: httpx2.AsyncClient) -> Model[Any]:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles import merge_profile
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
    from pydantic_ai.providers.vllm import VLLMProvider

    if target.service.prefix == "vllm":
        vllm = VLLMProvider(base_url=target.base_url, api_key=_key(target), http_client=client)
        profile = merge_profile(VLLMProvider.model_profile(target.model), _OWN_SERVER)
        return OpenAIChatModel(target.model, provider=vllm, profile=profile)
    any_server = OpenAICompatibleProvider(
        target.service.prefix, base_url=target.base_url, api_key=_key(target), http_client=client, profile=_OWN_SERVER
    )
    return OpenAIChatModel(target.model, provider=any_server)


def _bedrock(target: Target, settings: EndpointSettings) -> Model[Any]:
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


_BUILDERS: dict[str, Callable[[Target, httpx2.AsyncClient], Model[Any]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "google": _google,
    "mistral": _mistral,
    "openrouter": _openrouter,
    "ollama": _ollama,
}
