"""From a model's name, such as "openai:gpt-5" or "hf:DIRECTORY", to the policy that asks it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

from geosleuth import plugins
from geosleuth.errors import BadInput, BrokenPlugin, UserError, require

from .baselines import BASELINES, make_baseline
from .endpoints import EndpointSettings
from .model import Policy
from .services import SERVICES, Target, find_target

_WEIGHTS = "hf"
_REPLAY = "replay"
PREFIXES = (*SERVICES, _WEIGHTS)
"""What the name of a model may begin with, before a colon."""


@dataclass(frozen=True, slots=True)
class PolicyKind:
    """One kind of policy: all that is needed to make one by name.

    Attributes:
        prefix: what its names begin with, before a colon.
        make: makes one, from what comes after the colon.
        no_address: why it takes no address, in words; None where it takes one.
        on_disk: whether it asks nobody beyond this machine's own disk.
    """

    prefix: str
    make: Callable[[str, str | None, EndpointSettings | None], Policy] = field(repr=False)
    no_address: str | None = None
    on_disk: bool = True


def make_policy(
    spec: str, *, base_url: str | None = None, settings: EndpointSettings | None = None, offline: bool = False
) -> Policy:
    """The policy for a model's name. Nothing is sent and no connection is made before its first step.

    Args:
        spec: what serves it, a colon, and the name it is known by there: "openai:gpt-5", "ollama:qwen3-vl",
            "server:NAME" for any server that speaks as OpenAI does, "hf:DIRECTORY" for weights on this machine. Or a
            baseline, see `make_baseline`: "blind:population", "nearest:GALLERY", "geoclip:DIRECTORY". Or a policy of
            another package, "PACKAGE:NAME" or "PACKAGE:NAME:ARGUMENT".
        base_url: where it is served, if not at the usual place.
        settings: tries, time limits and how many requests at once.
        offline: refuse whatever is not on this machine's own disk.

    Raises:
        BadInput: there is no such prefix, no name, no key or no address; or it is not offline.
        MissingExtra: what it needs is not installed.
        BrokenPlugin: it is a plug-in that can't be loaded.
    """
    prefix, _, name = (part.strip() for part in spec.partition(":"))
    if prefix == _REPLAY:
        raise BadInput("a recording is played back by the agent, which knows the trajectory; it is no model to ask")
    kind = _kinds().get(prefix)
    if kind is None:
        return _from_plugin(spec, base_url, offline=offline)
    if base_url is not None and kind.no_address is not None:
        raise BadInput(f"{kind.no_address} no address; leave out --base-url")
    if not name and prefix not in BASELINES:
        raise BadInput(f"{spec[:60]!r} lacks the model's name; write {prefix}:NAME")
    if offline and not kind.on_disk:
        raise BadInput(f"{prefix}:{name[:60]} is asked over the network, which --offline rules out; use hf:DIRECTORY")
    return kind.make(name, base_url, settings)


@cache
def _kinds() -> Mapping[str, PolicyKind]:
    found = [PolicyKind(one, partial(_hosted, one), on_disk=False) for one in SERVICES]
    found.append(PolicyKind(_WEIGHTS, _weights, "weights on this machine have"))
    found += [PolicyKind(one, partial(_baseline, one), "a baseline works on this machine and has") for one in BASELINES]
    return {one.prefix: one for one in found}


def _hosted(prefix: str, name: str, base_url: str | None, settings: EndpointSettings | None) -> Policy:
    service = SERVICES[prefix]
    require("pydantic_ai", extra="models")
    require(service.package, extra="models")
    from .hosted.policy import HostedPolicy

    return HostedPolicy(find_target(service, name, base_url), settings)


def _weights(name: str, _base_url: str | None, _settings: EndpointSettings | None) -> Policy:
    from .weights import WeightsPolicy

    return WeightsPolicy(Path(name).expanduser())


def _baseline(prefix: str, name: str, _base_url: str | None, _settings: EndpointSettings | None) -> Policy:
    return make_baseline(f"{prefix}:{name}")


def _from_plugin(spec: str, base_url: str | None, *, offline: bool) -> Policy:
    """The policy of another package: ``PACKAGE:NAME``, or ``PACKAGE:NAME:ARGUMENT``."""
    package, _, rest = spec.partition(":")
    name, _, argument = rest.partition(":")
    plugin = plugins.find("policies", f"{package}:{name}")
    if plugin is None:
        known, others = (", ".join(f"{one}:" for one in names) for names in (PREFIXES, BASELINES))
        added = f"; plug-ins: {', '.join(plugins.ids('policies'))}" if plugins.ids("policies") else ""
        raise BadInput(
            f"{spec[:60]!r} names no model that can be asked; a model's name begins with one of {known}, and a "
            f"baseline's with {others}{added}"
        )
    if base_url is not None:
        raise BadInput(f"{plugin.id} takes no address; leave out --base-url")

    policy = _made(plugin, argument)
    if offline and policy.hosts:
        raise BadInput(f"{spec[:60]} is asked over the network, which --offline rules out; use hf:DIRECTORY")
    return policy


def _made(plugin: plugins.Plugin, argument: str) -> Policy:
    make: Callable[[str], Any] = plugin.load(lambda given: given)
    try:
        made = make(argument)
    except UserError:  # what follows the name must be mended, not the package
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
    """One line that says who gets to see the photos, or whatever else is ``told`` or ``kept``."""
    target = getattr(policy, "target", None)
    if not isinstance(target, Target):
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
