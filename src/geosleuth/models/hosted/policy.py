"""A policy that asks a model over HTTP, what its errors mean for the one who asked, and what replies cost.

No key is in what comes out of here: a service may send one back, so all that it says is scrubbed.
"""

import asyncio
import re
import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

from pydantic_ai import exceptions
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import ContentFilterError
from pydantic_ai.messages import BinaryContent, ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from geosleuth.atlas.redaction import redact
from geosleuth.models.endpoints import EndpointSettings, SaidNothing, get_endpoint
from geosleuth.models.local_models import thinks_unasked
from geosleuth.models.protocol import Conversation, Sampling, Step, Usage, is_truncated_thinking, thinking_tokens
from geosleuth.models.registry import ModelTarget
from geosleuth.photo import View, encode
from geosleuth.support.errors import Offline, ServiceFault
from geosleuth.support.limits import TryLater

from .client import Client, build_model, fetch_model_entry
from .messages import (
    build_tagged_messages,
    fit_call_ids,
    memory_key,
    native_messages,
    native_step,
    parse_tagged_step,
    says_the_same,
    tool_definitions,
)

_SHOWN = 200
_TEMPORARY = {408, 409, 425}
_NO_CREDENTIALS = {"NoCredentialsError", "PartialCredentialsError", "TokenRetrievalError"}
# Names that services use for thinking tokens in the details of their usage.
_THINKING_TOKEN_FIELDS = ("reasoning_tokens", "thoughts_tokens")

_AWS_HINT = "set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"

V = TypeVar("V")
# As base64 this is 4 MB, the least that any provider takes for one image.
_MAX_IMAGE_BYTES = 3_000_000
_IMAGES_KEPT = 64
_REPLIES_KEPT = 1024


def as_fault(error: Exception, target: ModelTarget) -> ServiceFault:
    """Return an error of the client as a service fault."""
    ours = next((cause for cause in _causes(error) if isinstance(cause, ServiceFault)), None)
    if ours is not None:
        return ours
    if any(type(cause).__name__ in _NO_CREDENTIALS for cause in _causes(error)):
        return ServiceFault(target.host, f"no AWS credentials were found; {_AWS_HINT}")
    if isinstance(error, exceptions.ModelHTTPError):
        return _of_status(error, target)
    if isinstance(error, exceptions.ModelConnectionError):
        return _of_connection(error, target)
    if isinstance(error, exceptions.UserError):
        return ServiceFault(target.host, f"can't be asked this way: {_clean(str(error), target)}")
    kind = "" if isinstance(error, exceptions.AgentRunError) else f" ({type(error).__name__})"
    hint = "; is the address the one that ends with /v1?" if target.service.own else ""
    return ServiceFault(target.host, f"answers something that is no model's reply{kind}{hint}", retryable=True)


def _of_connection(error: exceptions.ModelConnectionError, target: ModelTarget) -> ServiceFault:
    if error.phase == "connect":
        hint = f"is the server running? {target.service.start_hint}" if target.on_this_machine else "are you online?"
        return Offline(target.host, f"can't be reached; {hint}".rstrip())
    late = isinstance(error, exceptions.ModelTimeoutError)
    return ServiceFault(target.host, "did not answer in time" if late else "its answer was cut short", retryable=True)


def _of_status(error: exceptions.ModelHTTPError, target: ModelTarget) -> ServiceFault:
    status, host = error.status_code, target.host
    after = f"(status {status}){_get_service_message(error, target)}"
    if isinstance(error, exceptions.ModelRateLimitError) or status in _TEMPORARY or status >= 500:
        trouble = "is asked too often" if status == 429 else "failed"
        if error.retry_after:
            return TryLater(host, f"{trouble} and asks to wait {error.retry_after:.0f} s {after}", error.retry_after)
        return ServiceFault(host, f"{trouble} {after}", retryable=error.provider_retry_hint is not False)
    if isinstance(error, exceptions.ModelQuotaExceededError):
        trouble = "the account has nothing left; top it up"
    elif isinstance(error, exceptions.ModelContextWindowExceededError):
        trouble = f"the conversation is too long for {target.model[:80]!r}"
    elif status in (401, 403):
        trouble = f"refused the request; {_key_hint(target)}"
    elif status == 404:
        trouble = f"does not know {target.model[:80]!r}; check the model's name"
    else:
        trouble = "did not accept the request"
    return ServiceFault(host, f"{trouble} {after}")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _key_hint(target: ModelTarget) -> str:
    variables = " or ".join(target.service.key_variables)
    if target.key is not None:
        return f"check the key in {target.key.variable}"
    return f"it may want a key: set {variables}" if variables else "check your credentials and rights"


def _get_service_message(error: exceptions.ModelAPIError, target: ModelTarget) -> str:
    """Return the service's own message, where it is a line of text."""
    body: object = error.body
    for name in ("error", "message", "detail"):
        if isinstance(body, dict):
            body = body.get(name, body)
    text = _clean(body, target) if isinstance(body, str) and "<html" not in body[:2000].lower() else ""
    return f': "{text}"' if text else ""


def _clean(text: str, target: ModelTarget) -> str:
    # Scrubbed before it is cut, so that no half of a key is left over.
    whole = target.scrub(text[:100_000])
    line = re.sub(r"\s+", " ", "".join(item if item.isprintable() else " " for item in whole)).strip()
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."


def compute_usage(response: ModelResponse, target: ModelTarget) -> Usage:
    """Tokens and money of one reply; ``cost_usd`` is None where the price is not known."""
    counted = response.usage
    return Usage(
        input_tokens=max(0, counted.input_tokens),
        output_tokens=max(0, counted.output_tokens),
        cached_tokens=max(0, counted.cache_read_tokens),
        cost_usd=_cost_usd(response, target),
        thinking_tokens=next(
            (max(0, counted.details[name]) for name in _THINKING_TOKEN_FIELDS if name in counted.details), None
        ),
    )


def _cost_usd(response: ModelResponse, target: ModelTarget) -> float | None:
    if target.service.own:
        return None if target.hosts else 0.0
    reported = response.usage.cost
    if reported is None and response.provider_details:
        # OpenRouter says what it charged.
        reported = response.provider_details.get("cost")
    if reported is not None:
        return float(reported)
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None


class HostedPolicy:
    """A model that is asked over HTTP, at a provider's or on this machine.

    May be used by many runs at once. A reply that is empty, broken or too late is asked for again within the limits of
    its settings; what then still fails is a `ServiceFault` that names the host and what to do. A reply that the
    provider held back is a step that says so.
    """

    def __init__(self, target: ModelTarget, settings: EndpointSettings | None = None) -> None:
        """Prepare to ask; nothing is sent and no connection is made before the first step."""
        self._target = target
        self._settings = settings or EndpointSettings()
        self._packed: _Newest[BinaryContent] = _Newest(_IMAGES_KEPT)
        self._packing = threading.Lock()
        self._replies: _Newest[ModelResponse] = _Newest(_REPLIES_KEPT)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._building: asyncio.Task[tuple[Model[Any], Client | None]] | None = None
        # Whether a reply has shown that the model thinks before it speaks.
        self._thinks = False

    def __repr__(self) -> str:
        return f"HostedPolicy({self.name!r}, at {self._target.host!r})"

    @property
    def name(self) -> str:
        """The name in reports."""
        return self._target.name

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts that photos are sent to; empty where they stay on this machine's own processes."""
        return self._target.hosts

    @property
    def target(self) -> ModelTarget:
        """The model and its address."""
        return self._target

    @property
    def probe_key(self) -> str:
        """The key under which the scale of its boxes is stored: address and name, without a secret."""
        return f"{self._target.base_url} {self._target.model}"

    async def listed(self) -> dict[str, Any]:
        """Return the server's list entry for the model, for servers that people run themselves."""
        return await fetch_model_entry(self._target) if self._target.service.own else {}

    async def step(self, conversation: Conversation) -> Step:
        """The next step.

        Raises:
            ServiceFault: the model can't be reached, refuses or answers nonsense, after the tries that are allowed.
        """
        model = await self._model()
        messages = await asyncio.to_thread(self._messages, conversation)
        id_length = model.profile.get("tool_call_id_length")
        if id_length:
            messages = fit_call_ids(messages, id_length)
        wasted: list[Usage] = []

        async def once() -> Step:
            thinks = self._thinks
            response = await self._request_response(model, messages, *self._request(conversation, model))
            if response is None:
                return Step(usage=Usage(cost_usd=None), finish="filtered", model=self._target.model)
            usage = compute_usage(response, self._target)
            read = native_step if conversation.wire == "native" else parse_tagged_step
            step = _redact_step(read(response, conversation, usage))
            self._thinks = self._thinks or thinking_tokens(step) > 0
            if is_truncated_thinking(step, conversation.sampling, thinks=thinks):
                wasted.append(usage)
                return await once()
            if not (step.text or step.thinking or step.calls) and step.finish in ("stop", "error"):
                wasted.append(usage)
                raise SaidNothing(self._target.host)
            if conversation.wire == "native" and says_the_same(response, step):
                self._replies.put(memory_key(step), response)
            return step

        done = await get_endpoint(self._target.host, self._settings).ask(once, self._settings)
        # Adding up counts tries as well; how often it was really tried is known here alone.
        usage = sum(wasted, start=done.result.usage)
        return replace(done.result, usage=replace(usage, seconds=done.seconds, tries=done.tries))

    async def aclose(self) -> None:
        """Let go of connections."""
        building, self._building = self._building, None
        if building is not None and self._loop is asyncio.get_running_loop():
            _, client = await building
            if client is not None:
                await client.aclose()

    async def _model(self) -> Model[Any]:
        """The model for the running event loop; connections of one loop are of no use in another."""
        loop = asyncio.get_running_loop()
        if self._building is None or self._loop is not loop:
            self._loop = loop
            self._building = asyncio.create_task(asyncio.to_thread(build_model, self._target, self._settings))
        try:
            # One run that is called off must not take the model from the others.
            model, _ = await asyncio.shield(self._building)
        except Warning:
            raise
        except Exception as error:  # noqa: BLE001  # the packages refuse what they don't like with errors of any kind
            self._building = None
            raise as_fault(error, self._target) from None
        return model

    async def _request_response(
        self,
        model: Model[Any],
        messages: list[ModelMessage],
        settings: ModelSettings,
        parameters: ModelRequestParameters,
    ) -> ModelResponse | None:
        """The reply; None where the provider held it back."""
        try:
            return await model_request(
                model, messages, model_settings=settings, model_request_parameters=parameters, instrument=False
            )
        except ContentFilterError:
            return None
        except (ServiceFault, TimeoutError, Warning):
            raise
        except Exception as error:  # noqa: BLE001  # the packages meet nonsense from servers with errors of any kind
            # Not chained: what the packages say may hold what a server sent back, a key for example.
            raise as_fault(error, self._target) from None

    def _messages(self, conversation: Conversation) -> list[ModelMessage]:
        if conversation.wire == "tagged":
            return build_tagged_messages(conversation, self._pack)
        return native_messages(
            conversation,
            self._pack,
            lambda step: self._replies.get(memory_key(step)),
            images_in_results=self._target.images_in_results,
        )

    def _pack(self, view: View) -> BinaryContent:
        key = (view.photo_handle, view.box_in_original, view.size)
        # Runs that begin together all want the same photo: one packs it, the others wait for that.
        with self._packing:
            packed = self._packed.get(key)
            if packed is None:
                data = encode(view, "jpeg", quality=self._settings.jpeg_quality, max_bytes=_MAX_IMAGE_BYTES)
                packed = _PackedImage(data, media_type="image/jpeg")
                _ = packed.data_uri, packed.base64
                self._packed.put(key, packed)
        return packed

    def _request(self, conversation: Conversation, model: Model[Any]) -> tuple[ModelSettings, ModelRequestParameters]:
        settings = _model_settings(conversation.sampling, self._target, model, thinks=self._thinks)
        if self._settings.extra_body:
            own = cast("dict[str, Any]", settings.get("extra_body", {}))
            settings["extra_body"] = {**own, **self._settings.extra_body}
        if conversation.wire == "tagged" or not conversation.tools:
            return settings, ModelRequestParameters()
        if not conversation.may_call:
            # The tools stay declared: some providers refuse a history with calls of tools that they don't know.
            settings["tool_choice"] = "none"
        return settings, ModelRequestParameters(function_tools=tool_definitions(conversation.tools))


def _redact_step(step: Step) -> Step:
    calls = tuple(
        replace(call, id=redact(call.id), name=redact(call.name), arguments=redact(call.arguments))
        for call in step.calls
    )
    texts = {name: redact(getattr(step, name)) for name in ("text", "thinking", "model")}
    return replace(step, calls=calls, **texts)


def _model_settings(sampling: Sampling, target: ModelTarget, model: Model[Any], *, thinks: bool) -> ModelSettings:
    settings: dict[str, Any] = {}
    prefix = target.service.prefix
    if prefix != "bedrock":
        settings["max_retries"] = 0
    if prefix == "openai" and target.at_its_makers:
        # Photos are not for keeping.
        settings["openai_store"] = False
    if prefix == "ollama" and sampling.thinking_tokens is None and thinks_unasked(target.model):
        settings["extra_body"] = {"reasoning_effort": "none"}
    given: dict[str, float | None] = {"max_tokens": sampling.longest(thinks=thinks), "seed": sampling.seed}
    if _takes_sampling(model):
        given |= {"temperature": sampling.temperature, "top_p": sampling.top_p}
        if sampling.top_k is not None and (target.service.own or prefix == "openrouter"):
            settings["extra_body"] = {**settings.get("extra_body", {}), "top_k": sampling.top_k}
        elif prefix in ("anthropic", "google", "bedrock"):
            given["top_k"] = sampling.top_k
    return cast("ModelSettings", settings | {name: value for name, value in given.items() if value is not None})


def _takes_sampling(model: Model[Any]) -> bool:
    """Return whether a model accepts a temperature; many reasoning models refuse the request."""
    profile = cast("dict[str, Any]", model.profile)
    if profile.get("anthropic_disallows_sampling_settings") or profile.get("bedrock_disallows_sampling_settings"):
        return False
    if not profile.get("openai_supports_reasoning"):
        return True
    efforts = profile.get("openai_reasoning_efforts")
    may_be_off = "none" in efforts if efforts is not None else profile.get("openai_supports_reasoning_effort_none")
    return bool(may_be_off) and not profile.get("thinking_enabled_by_default")


class _PackedImage(BinaryContent):
    """A picture whose base64 is made once, here: the package makes it anew for every request that has it."""

    @cached_property
    def base64(self) -> str:
        return super().base64

    @cached_property
    def data_uri(self) -> str:
        return super().data_uri


class _Newest(Generic[V]):
    """The newest values by key, for any thread; older ones are forgotten."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, V] = OrderedDict()

    def get(self, key: Hashable) -> V | None:
        with self._lock:
            return self._values.get(key)

    def put(self, key: Hashable, value: V) -> None:
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            if len(self._values) > self._most:
                self._values.popitem(last=False)
