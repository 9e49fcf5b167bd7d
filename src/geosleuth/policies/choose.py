"""From a model's name, such as "openai:gpt-5" or "hf:DIRECTORY", to the policy that asks it."""

from pathlib import Path

from geosleuth.errors import BadInput, require

from .baselines import BASELINES, make_baseline
from .endpoints import EndpointSettings
from .model import Policy
from .services import SERVICES, Target, find_target

_WEIGHTS = "hf"
_REPLAY = "replay"
PREFIXES = (*SERVICES, _WEIGHTS)
"""What the name of a model may begin with, before a colon."""


def make_policy(
    spec: str, *, base_url: str | None = None, settings: EndpointSettings | None = None, offline: bool = False
) -> Policy:
    """The policy for a model's name. Nothing is sent and no connection is made before its first step.

    Args:
        spec: what serves it, a colon, and the name it is known by there: "openai:gpt-5", "ollama:qwen3-vl",
            "server:NAME" for any server that speaks as OpenAI does, "hf:DIRECTORY" for weights on this machine. Or a
            baseline, see `make_baseline`: "blind:population", "nearest:GALLERY", "geoclip:DIRECTORY".
        base_url: where it is served, if not at the usual place.
        settings: tries, time limits and how many requests at once.
        offline: refuse whatever is not on this machine's own disk.

    Raises:
        BadInput: there is no such prefix, no name, no key or no address; or it is not offline.
        MissingExtra: what it needs is not installed.
    """
    prefix, colon, name = (part.strip() for part in spec.partition(":"))
    if prefix == _REPLAY:
        raise BadInput("a recording is played back by the agent, which knows the trajectory; it is no model to ask")
    if prefix in BASELINES:
        if base_url is not None:
            raise BadInput("a baseline works on this machine and has no address; leave out --base-url")
        return make_baseline(spec)
    if prefix not in PREFIXES:
        known, others = (", ".join(f"{one}:" for one in names) for names in (PREFIXES, BASELINES))
        raise BadInput(
            f"{spec[:60]!r} names no model that can be asked; a model's name begins with one of {known}, and a "
            f"baseline's with {others}"
        )
    if not colon or not name:
        raise BadInput(f"{spec[:60]!r} lacks the model's name; write {prefix}:NAME")
    if prefix == _WEIGHTS:
        if base_url is not None:
            raise BadInput("weights on this machine have no address; leave out --base-url")
        from .weights import WeightsPolicy

        return WeightsPolicy(Path(name).expanduser())
    if offline:
        raise BadInput(f"{prefix}:{name[:60]} is asked over the network, which --offline rules out; use hf:DIRECTORY")
    service = SERVICES[prefix]
    require("pydantic_ai", extra="models")
    require(service.package, extra="models")
    from .hosted.policy import HostedPolicy

    return HostedPolicy(find_target(service, name, base_url), settings)


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
