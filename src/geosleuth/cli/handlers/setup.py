"""Implementation of ``geosleuth setup``: find models, try a model on a drawn photo, save it as the default."""

import asyncio
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from geosleuth.cli.options import RunOptions
from geosleuth.cli.preparation import agree, confirm
from geosleuth.cli.setup import SetupOptions
from geosleuth.models import consent_line, make_policy
from geosleuth.models.local_models import LocalModel, fitting_models
from geosleuth.models.registry import SERVICES
from geosleuth.pipeline.defaults import NO_MODEL, Defaults, write_defaults
from geosleuth.pipeline.model_choice import DETECTIVE
from geosleuth.pipeline.profiles import SAVED_OPTIONS, Profile, list_profiles, read_profile, write_profile
from geosleuth.server.model_discovery import PATIENT_TIMEOUT_S, Broken, Reachable, look_around
from geosleuth.server.model_trial import MODEL_PLACEHOLDER, Tried, check_named, describe_cost, price_usd, try_model
from geosleuth.server.ollama import NOT_RUNNING, ollama_root, pull
from geosleuth.support.console import progress, quiet_libraries, show, show_json, table_view, talk
from geosleuth.support.errors import BadInput
from geosleuth.support.text.numbers import plural

_UNTOLD = RunOptions()
_ADVICE = (
    "No model that sees is within reach. Without one, the detective reads the text in photos and nothing else. To add "
    "one on this machine, install Ollama (https://ollama.com) and run: ollama pull {}; then run geosleuth setup again."
)


def set_up(options: SetupOptions) -> None:
    """Show what is within reach, or try and keep the model that was named or chosen.

    Raises:
        UserError: there is no such model, it fails, or the user did not agree; the default stays as it was.
    """
    if options.profile is None:
        _set_up_model(options)
    else:
        _save(options.profile, options)


def _set_up_model(options: SetupOptions) -> None:
    if others := [name for name in SAVED_OPTIONS if name not in ("model", "base_url") and _is_told(options, name)]:
        raise BadInput(f"--{others[0].replace('_', '-')} is kept in a profile; name it with --profile NAME")
    if options.model is not None:
        _try_and_save(options.model.strip(), options)
        return
    if options.base_url is not None:
        raise BadInput("--base-url is the address of a model; name the model with --model")
    if options.pull:
        _pull(options)
        return
    talk("looking for models on this machine")
    found, broken = look_around()
    if options.as_json:
        offer = asdict(fitting_models()[0]) if _lacking(found) else None
        models = [_build_model_document(item) for item in found]
        show_json({"models": models, "broken": [asdict(item) for item in broken], "offer": offer})
        return
    _show(found, broken)
    if _lacking(found):
        _offer(options)
        return
    choices = [item for item in found if item.sees is not False]
    if options.yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        talk(f"to use one: geosleuth setup {choices[0].flag}")
        return
    chosen = _chosen(found)
    if chosen is None:
        talk("nothing was changed")
        return
    _try_and_save(chosen.model, replace(options, base_url=chosen.base_url))


def _is_told(options: SetupOptions, name: str) -> bool:
    return bool(getattr(options, name) != getattr(_UNTOLD, name))


def _save(name: str, options: SetupOptions) -> None:
    """Write a profile: the options, which hold what there was of that name where they say nothing else."""
    before = read_profile(name) if name in list_profiles() else Profile(name, {})
    told = {item: getattr(options, item) for item in SAVED_OPTIONS if item in before.options or _is_told(options, item)}
    kept = {one: tuple(value) if isinstance(value, list) else value for one, value in told.items() if value is not None}
    if not kept:
        raise BadInput(f"profile {name[:40]!r} would be empty; give options to save, such as --model and --method")
    if kept.get("model") is not None:
        check_named(str(kept["model"]))
    hosts = tuple(host for host in before.hosts if host not in kept.get("allow", ()))
    line = f"with this profile {', '.join(hosts)} get what a model looks up"
    interactive = sys.stdin.isatty() and sys.stderr.isatty()
    if hosts and (options.yes or (interactive and confirm(f"{line}. Allow it?"))):
        kept["allow"] = (*kept.get("allow", ()), *hosts)
    elif hosts:
        talk(f"{line}; that is not allowed yet: add --yes here, or --allow HOST to each command")
    saved = Profile(name, kept, before.hosts, before.keys)
    path = write_profile(saved)
    if saved.missing_keys:
        talk(f"set these in the environment before it is used: {', '.join(saved.missing_keys)}")
    talk(f"{name} is saved ({path}); use it with --profile {name}")
    if options.as_json:
        shown = {one: str(value) if isinstance(value, Path) else value for one, value in kept.items()}
        show_json({"profile": name, "options": shown, "file": str(path), "missing_keys": saved.missing_keys})


def _lacking(found: list[Reachable]) -> bool:
    return all(item.sees is False for item in found)


def _offer(options: SetupOptions) -> None:
    """Offer to fetch a model through Ollama where it runs, or say how to get it."""
    best, *smaller = fitting_models()
    if asyncio.run(ollama_root(PATIENT_TIMEOUT_S)) is None:
        talk(_ADVICE.format(best.words))
    elif options.yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        talk(f"no model that sees is within reach; Ollama runs and can fetch {best.words}: geosleuth setup --pull")
        if smaller:
            talk(f"others that fit this machine, for ollama pull: {', '.join(item.model for item in smaller)}")
    else:
        _pull(options)


def _pull(options: SetupOptions) -> None:
    """Have Ollama fetch the model for this machine's memory, after a yes, and make it the default."""
    root = asyncio.run(ollama_root(PATIENT_TIMEOUT_S))
    if root is None:
        raise BadInput(NOT_RUNNING)
    offer = fitting_models()[0]
    line, question = f"Ollama fetches {offer.words}; no photo is sent", "Fetch it, and use it from now on?"
    agree(line, yes=options.yes, question=question, stopped="nothing was fetched or changed")
    asyncio.run(_fetch(root, offer))
    usual = SERVICES["ollama"].base_url == f"{root}/v1"
    _try_and_save(f"ollama:{offer.model}", replace(options, base_url=None if usual else f"{root}/v1"))


async def _fetch(root: str, offer: LocalModel) -> None:
    with progress(f"fetching {offer.model}", measure="bytes") as bar:
        async for done, total in pull(root, offer.model):
            bar.update(done, total)


def _build_model_document(reachable: Reachable) -> dict[str, Any]:
    return {**asdict(reachable), "cost": describe_cost(reachable)}


def _show(found: list[Reachable], broken: list[Broken]) -> None:
    rows = []
    for number, item in enumerate(found, 1):
        sees = {True: "yes", False: "no", None: "it does not say"}[item.sees]
        photos = "stay on this machine" if item.sent_to is None else f"go to {item.sent_to}"
        rows.append((str(number), item.model, item.where, sees, photos, describe_cost(item)))
    if found:
        heads = ("", "model", "where", "sees pictures", "photos", "cost")
        show(table_view(heads, rows, title="Models within reach"))
    for two in broken:
        talk(f"{two.title} at {two.where} does not work: it {two.trouble}; restart it or correct its address")


def _chosen(found: list[Reachable]) -> Reachable | None:
    sys.stderr.write(f"Number of the model to use, 1 to {len(found)}; nothing for none: ")
    sys.stderr.flush()
    said = sys.stdin.readline().strip()
    if not said:
        return None
    if not said.isdecimal() or not 1 <= int(said[:6]) <= len(found):
        raise BadInput(f"{said[:20]!r} is not on the list")
    chosen = found[int(said[:6]) - 1]
    if not chosen.model.endswith(f":{MODEL_PLACEHOLDER}"):
        return chosen
    sys.stderr.write("Name of the model there: ")
    sys.stderr.flush()
    name = sys.stdin.readline().strip()
    if not name:
        return None
    return replace(chosen, model=f"{chosen.model.removesuffix(MODEL_PLACEHOLDER)}{name}")


def _try_and_save(model: str, options: SetupOptions) -> None:
    defaults = Defaults() if model in ("", NO_MODEL, DETECTIVE) else Defaults(model, options.base_url)
    outcome = None
    if defaults.model is not None:
        check_named(defaults.model)
        policy = make_policy(defaults.model, base_url=defaults.base_url)
        usd = price_usd(defaults.model) if policy.hosts else None
        line = consent_line(policy) + ("" if usd is None else f"; about ${usd:.3f} a photo")
        question, stopped = "Try it on an example photo, and use it from now on?", "nothing was sent or changed"
        agree(line, yes=options.yes or not policy.hosts, question=question, stopped=stopped)
        outcome = None if options.untried else _try_model(defaults)
    path = write_defaults(defaults)
    talk(f"{model if defaults.model else 'the detective'} is the default now ({path}); --model names another")
    if options.as_json:
        show_json(
            {"model": defaults.model or NO_MODEL, "base_url": defaults.base_url, "file": str(path), "tried": outcome}
        )


def _try_model(defaults: Defaults) -> Tried:
    talk(f"trying {defaults.model} on an example photo, a drawn street sign")
    with quiet_libraries():
        tried = asyncio.run(try_model(defaults))
    turns = plural(tried["turns"], "turn", "turns")
    said = "right" if tried["right"] else "not right, the example shows Monaco"
    talk(f"it answered {tried['answer']} in {tried['seconds']:.1f} s, with {turns}: {said}")
    return tried
