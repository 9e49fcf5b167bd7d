"""From a model's name, such as "openai:gpt-5" or "hf:DIRECTORY", to the policy that asks it; and who serves models.

Nothing here reaches for the network or for a provider's package; it only says where a request would go.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from geosleuth.support import plugins
from geosleuth.support.errors import BadInput, BrokenPlugin, UserError, require
from geosleuth.support.net import is_loopback, is_well_bracketed, parse_host

from .endpoints import EndpointSettings
from .protocol import Policy

if TYPE_CHECKING:
    from collections.abc import Callable

    from geosleuth.atlas.online.access import Secret

# Service name of our entries in the system's keyring.
KEYRING = "geosleuth"
_OWN_KEY = ("GEOSLEUTH_SERVER_KEY",)
_WEIGHTS = "hf"
_REPLAY = "replay"


@dataclass(frozen=True, slots=True)
class ModelService:
    """One kind of model server.

    Attributes:
        prefix: what a model's name begins with, as in "openai:gpt-5".
        title: what messages call it.
        package: the module that speaks to it.
        base_url: where it is; None where the user must say.
        base_url_variable: the environment variable that says otherwise.
        key_variables: where its key is looked for, in this order.
        own: whether it is a server that the user runs: no key and no price, as far as we know.
        images_in_results: whether the results of tools may hold images; elsewhere they follow in a message.
        also_goes_to: whom the host passes photos on to, in words that go after "which passes them on to".
        start_hint: what to do when no server answers there.
    """

    prefix: str
    title: str
    package: str
    base_url: str | None = None
    base_url_variable: str | None = None
    key_variables: tuple[str, ...] = ()
    own: bool = False
    images_in_results: bool = False
    also_goes_to: str = ""
    start_hint: str = ""


SERVICES: dict[str, ModelService] = {
    item.prefix: item
    for item in (
        ModelService("openai", "OpenAI", "openai", "https://api.openai.com/v1", "OPENAI_BASE_URL", ("OPENAI_API_KEY",),
                images_in_results=True),
        ModelService("anthropic", "Anthropic", "anthropic", "https://api.anthropic.com", "ANTHROPIC_BASE_URL",
                ("ANTHROPIC_API_KEY",), images_in_results=True),
        ModelService("google", "Google", "google.genai", "https://generativelanguage.googleapis.com",
                "GOOGLE_GEMINI_BASE_URL", ("GOOGLE_API_KEY", "GEMINI_API_KEY")),
        ModelService("mistral", "Mistral", "mistralai", "https://api.mistral.ai", None, ("MISTRAL_API_KEY",)),
        ModelService("groq", "Groq", "groq", "https://api.groq.com", "GROQ_BASE_URL", ("GROQ_API_KEY",)),
        ModelService("openrouter", "OpenRouter", "openai", "https://openrouter.ai/api/v1", None,
                ("OPENROUTER_API_KEY",), also_goes_to="whoever serves the model"),
        ModelService("bedrock", "Amazon Bedrock", "boto3", None, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
                ("AWS_BEARER_TOKEN_BEDROCK",)),
        ModelService("ollama", "Ollama", "openai", "http://127.0.0.1:11434/v1", "OLLAMA_BASE_URL", ("OLLAMA_API_KEY",),
                own=True, start_hint="run: ollama serve"),
        ModelService("lmstudio", "LM Studio", "openai", "http://127.0.0.1:1234/v1", None, _OWN_KEY, own=True,
                start_hint="run: lms server start"),
        ModelService("vllm", "vLLM", "openai", None, "VLLM_BASE_URL", ("VLLM_API_KEY",), own=True,
                start_hint="run: vllm serve MODEL"),
        ModelService("server", "the server", "openai", None, None, _OWN_KEY, own=True),
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ModelTarget:
    """A model at a place: all that is needed to ask it. Its text form does not give the key away."""

    service: ModelService
    model: str
    base_url: str
    key: "Secret | None" = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The name in reports."""
        return f"{self.service.prefix}:{self.model}"

    @property
    def host(self) -> str:
        """The host that is asked, with its port where the address names one."""
        return urlsplit(self.base_url).netloc

    @property
    def at_its_makers(self) -> bool:
        """Return whether the address is the service's own, or a part of it such as a region's."""
        home = urlsplit(self.service.base_url or "").hostname
        host = urlsplit(self.base_url).hostname or ""
        return home is not None and (host == home or host.endswith(f".{home}"))

    @property
    def images_in_results(self) -> bool:
        """Return whether tool results may hold images; chat completions as others speak them take none."""
        return self.service.images_in_results and (self.service.prefix != "openai" or self.at_its_makers)

    @property
    def on_this_machine(self) -> bool:
        """Return whether the address is this machine's own."""
        return is_loopback(urlsplit(self.base_url).hostname or "")

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts that photos are sent to; empty for this machine's own addresses."""
        if not self.on_this_machine:
            return frozenset({urlsplit(self.base_url).hostname or ""})
        # An Ollama on this machine hands models of this name to its makers' own machines.
        if self.service.prefix == "ollama" and self.model.endswith("-cloud"):
            return frozenset({"ollama.com"})
        return frozenset()

    def scrub(self, text: str) -> str:
        """The text without the key."""
        return self.key.scrub(text) if self.key else text


def find_target(service: ModelService, model: str, base_url: str | None = None) -> ModelTarget:
    """Return the address and key with which a model is asked.

    Raises:
        BadInput: the address or the key is missing, or the address can't be used.
    """
    address = _check_address(base_url or _find_address(service), service)
    key = _find_key(service, needed=not (service.own or service.prefix == "bedrock" or _is_at_home(address)))
    return ModelTarget(service, model, address, key)


def _is_at_home(address: str) -> bool:
    return is_loopback(urlsplit(address).hostname or "")


def _find_address(service: ModelService) -> str:
    from_environment = os.environ.get(service.base_url_variable or "", "").strip()
    if from_environment or service.base_url:
        return from_environment or service.base_url or ""
    if service.prefix == "bedrock":
        region = aws_region()
        return f"https://bedrock-runtime.{region}.amazonaws.com{'.cn' if region.startswith('cn-') else ''}"
    variable = f", or set {service.base_url_variable}" if service.base_url_variable else ""
    raise BadInput(f"say where {service.title} is: --base-url http://127.0.0.1:8000/v1 or the like{variable}")


def aws_region() -> str:
    """The AWS region that the user's environment or configuration names.

    Raises:
        BadInput: it names none.
    """
    for variable in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        if os.environ.get(variable):
            return os.environ[variable]
    region = require("botocore.session", extra="models").Session().get_config_variable("region")
    if not region:
        raise BadInput("Amazon Bedrock needs a region: set the environment variable AWS_REGION, such as eu-central-1")
    return str(region)


def _check_address(address: str, service: ModelService) -> str:
    try:
        parts = urlsplit(address)
        host, port = parse_host(address), parts.port
    except ValueError as error:
        raise BadInput(f"not a web address for {service.title}: {address[:100]!r}") from error
    if parts.scheme not in ("http", "https") or not host or not is_well_bracketed(parts.netloc):
        raise BadInput(
            f"the address of {service.title} starts with http:// or https:// and a host, not {address[:80]!r}"
        )
    if parts.username is not None or parts.password is not None:
        raise BadInput(f"the address of {service.title} holds a user name or password; leave them out")
    if parts.query or parts.fragment:
        raise BadInput(f"the address of {service.title} ends with a query; leave out what is after the path")
    if parts.scheme == "http" and not (service.own or is_loopback(host)):
        raise BadInput(f"{service.title} must be asked over https, since photos and a key travel there")
    if parts.hostname != host:  # numbers, or a dot at its end: what is asked is what is shown
        parts = parts._replace(netloc=host if port is None else f"{host}:{port}")
    return urlunsplit(parts).rstrip("/")


def _find_key(service: ModelService, *, needed: bool) -> "Secret | None":
    from geosleuth.atlas.online.access import Secret, key_from_environment

    for variable in service.key_variables:
        if os.environ.get(variable, "").strip():
            if needed:
                return key_from_environment(variable, service.title)
            value = os.environ[variable].strip()
            return Secret(value, variable) if value.isascii() and value.isprintable() else None
    if needed and service.key_variables and (kept := keyring_key(service.prefix)):
        return Secret(kept, service.key_variables[0])
    return key_from_environment(service.key_variables[0], service.title) if needed else None


def keyring_key(prefix: str) -> str | None:
    """Return the key of a service that the page's settings put into the system's keyring, if there is one."""
    try:
        import keyring

        return keyring.get_password(KEYRING, prefix) if keyring.get_keyring().priority > 0 else None
    except Exception:  # noqa: BLE001 -- absent, locked or broken: there is no key in it for us
        return None


# Prefixes that a model's name may have before a colon.
PREFIXES = (*SERVICES, _WEIGHTS)


class UnknownModel(BadInput):
    """No model that can be asked has such a name."""


def make_policy(
    spec: str, *, base_url: str | None = None, settings: EndpointSettings | None = None, offline: bool = False
) -> Policy:
    """The policy for a model's name. Nothing is sent and no connection is made before its first step.

    Args:
        spec: what serves it, a colon, and the name it is known by there: "openai:gpt-5", "ollama:qwen3-vl",
            "server:NAME" for any server that speaks as OpenAI does, "hf:DIRECTORY" for weights on this machine. Or a
            policy that a package adds: a baseline of the laboratory, such as "blind:population", or one of another
            package, "PACKAGE:NAME" or "PACKAGE:NAME:ARGUMENT".
        base_url: where it is served, if not at the usual place.
        settings: tries, time limits and how many requests at once.
        offline: refuse what is not on this machine's own disk.

    Raises:
        BadInput: there is no such prefix, no name, no key or no address; or it is not offline.
        MissingExtra: what it needs is not installed.
        BrokenPlugin: it is a plug-in that can't be loaded.
    """
    prefix, _, name = (part.strip() for part in spec.partition(":"))
    if prefix == _REPLAY:
        raise BadInput("a recording is played back by the agent, which knows the trajectory; it is no model to ask")
    if prefix not in PREFIXES:
        return _from_plugin(spec, base_url, offline=offline)
    if base_url is not None and prefix == _WEIGHTS:
        raise BadInput("weights on this machine have no address; leave out --base-url")
    if not name:
        raise BadInput(f"{spec[:60]!r} lacks the model's name; write {prefix}:NAME")
    if prefix == _WEIGHTS:
        from .weights import WeightsPolicy

        return WeightsPolicy(Path(name).expanduser())
    if offline:
        raise BadInput(f"{prefix}:{name[:60]} is asked over the network, which --offline rules out; use hf:DIRECTORY")
    service = SERVICES[prefix]
    require("pydantic_ai", extra="models")
    require(service.package, extra="models")
    from .hosted.policy import HostedPolicy

    return HostedPolicy(find_target(service, name, base_url), settings)


def _from_plugin(spec: str, base_url: str | None, *, offline: bool) -> Policy:
    """Return a plug-in's policy: ``PACKAGE:NAME`` or ``PACKAGE:NAME:ARGUMENT``; one of our own, ``NAME:ARGUMENT``."""
    first, _, argument = (part.strip() for part in spec.partition(":"))
    plugin = plugins.find("policies", first)
    if plugin is None:
        name, _, argument = argument.partition(":")
        plugin = plugins.find("policies", f"{first}:{name}")
    if plugin is None:
        known, others = (", ".join(f"{item}:" for item in names) for names in (PREFIXES, plugins.ids("policies")))
        added = f", a baseline's or a plug-in's with one of {others}" if others else ""
        raise UnknownModel(
            f"{spec[:60]!r} names no model that can be asked; a model's name begins with one of {known}{added}"
        )
    if base_url is not None:
        raise BadInput(f"{plugin.id} takes no address; leave out --base-url")

    policy = _make_policy(plugin, argument)
    if offline and policy.hosts:
        raise BadInput(f"{spec[:60]} is asked over the network, which --offline rules out; use hf:DIRECTORY")
    return policy


def _make_policy(plugin: plugins.Plugin, argument: str) -> Policy:
    make: Callable[[str], Any] = plugin.load(lambda given: given)
    try:
        made = make(argument)
    except UserError:  # the fault is in what follows the name, not in the package
        raise
    except Exception as error:
        raise BrokenPlugin(plugin.id, plugins.why(error)) from error
    if not callable(getattr(made, "step", None)) or not isinstance(getattr(made, "hosts", None), frozenset):
        raise BrokenPlugin(plugin.id, "it makes no Policy: one has a name, hosts and an async step")
    policy: Policy = made
    return policy


def consent_line(
    policy: Policy, *, told: str = "the photo, its crops and what tools find", kept: str = "the photo"
) -> str:
    """Return one line that says who gets to see the photos, or what ``told`` or ``kept`` names instead."""
    target = getattr(policy, "target", None)
    if not isinstance(target, ModelTarget):
        where = " and ".join(sorted(policy.hosts))
        return f"{policy.name} sends {told} to {where}" if where else f"{policy.name} keeps {kept} on this machine"
    if not policy.hosts and target.service.own:
        return f"{policy.name} keeps {kept} on this machine: the server at {target.host} gets it"
    if not policy.hosts:
        service = target.service.title
        return f"{policy.name} sends {told} to {target.host} on this machine, which may pass them on to {service}"
    where = " and ".join(sorted(policy.hosts))
    bare = "" if target.on_this_machine or target.base_url.startswith("https:") else ", unencrypted"
    further = f", which passes them on to {target.service.also_goes_to}" if target.service.also_goes_to else ""
    return f"{policy.name} sends {told} to {where}{bare}{further}"
