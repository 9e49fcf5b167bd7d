"""What ``geosleuth setup`` does: look around, try a model on a drawn photo, keep it as the default."""

import asyncio
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from geosleuth.app.cli.setup import SetupOptions
from geosleuth.app.console import asked, quiet_libraries, show, show_json, talk
from geosleuth.app.reach import Broken, Reachable, look_around
from geosleuth.errors import BadInput, GeosleuthError
from geosleuth.pipeline.defaults import NONE, Defaults, write_defaults
from geosleuth.pipeline.plan import DETECTIVE
from geosleuth.policies import consent_line, make_policy
from geosleuth.text.numbers import plural
from geosleuth.text.safe import one_line

_NAME = "NAME"
_TRY_TURNS, _TRY_SECONDS, _TRY_USD = 4, 180.0, 0.25
_A_PHOTO = 10_000, 1_000
"""Tokens in and out that a photo takes, roughly: for prices."""

_ADVICE = (
    "No model that sees is within reach. Without one, the detective reads the text in photos and nothing else. To add "
    "one on this machine, install Ollama (https://ollama.com) and run: ollama pull qwen3-vl:4b (about 3.3 GB, "
    "Apache 2.0); then run geosleuth setup again."
)


def set_up(options: SetupOptions) -> None:
    """Show what is within reach, or try and keep the model that was named or chosen.

    Raises:
        UserError: there is no such model, it fails, or nobody agreed; the default stays as it was.
    """
    if options.model is not None:
        _keep(options.model.strip(), options)
        return
    if options.base_url is not None:
        raise BadInput("--base-url is the address of a model; name the model with --model")
    talk("looking for models on this machine")
    found, broken = look_around()
    if options.as_json:
        show_json({"models": [_document(one) for one in found], "broken": [asdict(one) for one in broken]})
        return
    _show(found, broken)
    choices = [one for one in found if one.sees is not False]
    if not choices:
        talk(_ADVICE)
        return
    if options.yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        talk(f"to use one: geosleuth setup {choices[0].flag}")
        return
    chosen = _chosen(found)
    if chosen is None:
        talk("nothing was changed")
        return
    _keep(chosen.model, replace(options, base_url=chosen.base_url))


def _document(one: Reachable) -> dict[str, Any]:
    return {**asdict(one), "cost": _cost(one)}


def _show(found: list[Reachable], broken: list[Broken]) -> None:
    from rich.table import Table

    table = Table(title="Models within reach", title_justify="left")
    for name in ("", "model", "where", "sees pictures", "photos", "cost"):
        table.add_column(name, overflow="fold")
    for number, one in enumerate(found, 1):
        sees = {True: "yes", False: "no", None: "it does not say"}[one.sees]
        photos = "stay on this machine" if one.sent_to is None else f"go to {one.sent_to}"
        table.add_row(str(number), one.model, one.where, sees, photos, _cost(one))
    if found:
        show(table)
    for two in broken:
        talk(f"{two.title} at {two.where} is broken: it {two.trouble}")


def _cost(one: Reachable) -> str:
    if one.sent_to is None:
        return "free"
    usd = None if one.model.endswith(f":{_NAME}") else _price_usd(one.model)
    return "its price list" if usd is None else f"about ${usd:.3f} a photo"


def _price_usd(model: str) -> float | None:
    """Return what a photo costs at a service, roughly; None where no price is known."""
    prefix, _, name = model.partition(":")
    with suppress(Exception):  # the list has what it has, and its errors are its own
        from genai_prices import Usage, calc_price

        usage = Usage(input_tokens=_A_PHOTO[0], output_tokens=_A_PHOTO[1])
        return float(calc_price(usage, model_ref=name, provider_id=prefix).total_price)
    return None


def _chosen(found: list[Reachable]) -> Reachable | None:
    sys.stderr.write(f"Number of the model to use, 1 to {len(found)}; nothing for none: ")
    sys.stderr.flush()
    said = sys.stdin.readline().strip()
    if not said:
        return None
    if not said.isdecimal() or not 1 <= int(said[:6]) <= len(found):
        raise BadInput(f"{said[:20]!r} is not on the list")
    chosen = found[int(said[:6]) - 1]
    if not chosen.model.endswith(f":{_NAME}"):
        return chosen
    sys.stderr.write("Name of the model there: ")
    sys.stderr.flush()
    name = sys.stdin.readline().strip()
    if not name:
        return None
    return replace(chosen, model=f"{chosen.model.removesuffix(_NAME)}{name}")


def _keep(model: str, options: SetupOptions) -> None:
    """Try a model, and make it the default."""
    defaults = Defaults() if model in ("", NONE, DETECTIVE) else Defaults(model, options.base_url)
    outcome = None
    if defaults.model is not None:
        if defaults.model.endswith(f":{_NAME}"):
            raise BadInput(f"{_NAME} stands for the model's name; write for example openai:gpt-5")
        policy = make_policy(defaults.model, base_url=defaults.base_url)
        usd = _price_usd(defaults.model) if policy.hosts else None
        line = consent_line(policy) + ("" if usd is None else f"; about ${usd:.3f} a photo")
        _agree(line, leaves=bool(policy.hosts), yes=options.yes)
        outcome = None if options.untried else _tried(defaults)
    path = write_defaults(defaults)
    talk(f"{model if defaults.model else 'the detective'} is the default now ({path}); --model names another")
    if options.as_json:
        show_json({"model": defaults.model or NONE, "base_url": defaults.base_url, "file": str(path), "tried": outcome})


def _agree(line: str, *, leaves: bool, yes: bool) -> None:
    if yes or not leaves:
        talk(line)
    elif not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput(f"{line}; add --yes to allow it")
    elif not asked(f"{line}. Try it on an example photo, and use it from now on?"):
        raise BadInput("stopped; nothing was sent, and nothing was changed")


def _tried(defaults: Defaults) -> dict[str, Any]:
    """Let a model work on a drawn photo, and say what came of it.

    Raises:
        BadInput: it fails.
    """
    from geosleuth.pipeline.api import alocate

    talk(f"trying {defaults.model} on an example photo, a drawn street sign")
    with tempfile.TemporaryDirectory(prefix="geosleuth-") as folder, quiet_libraries():
        photo = Path(folder) / "example.png"
        _draw(photo)
        try:
            finding = asyncio.run(
                alocate(
                    photo, model=defaults.model, base_url=defaults.base_url, send=True,
                    turns=_TRY_TURNS, seconds=_TRY_SECONDS, usd=_TRY_USD, force_answer=True,
                )
            )  # fmt: skip
        except GeosleuthError as error:
            raise BadInput(f"{defaults.model} does not work, and is not the default: {error}") from error
    ended, spent = finding.trajectory.ended, finding.trajectory.spent
    if ended is not None and ended.reason == "service":
        raise BadInput(
            f"{defaults.model} does not work, and is not the default: {one_line(ended.trouble or 'it fails')}"
        )
    place = finding.answer.address.country.conclusion or finding.answer.address.precise.conclusion
    told = one_line(place or "no place")[:80]
    talk(f"it answered {told} in {spent.seconds:.1f} s, with {plural(spent.turns, 'turn', 'turns')}")
    return {"answer": told, "seconds": round(spent.seconds, 1), "turns": spent.turns, "usd": spent.usage.cost_usd}


def _draw(path: Path) -> None:
    """Draw a street sign of Monaco on a wall: a photo of nobody."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (640, 420), (222, 205, 170))
    draw = ImageDraw.Draw(image)
    draw.rectangle((90, 110, 550, 290), fill=(22, 58, 140), outline="white", width=8)
    draw.text((320, 175), "AVENUE PRINCESSE GRACE", fill="white", font=ImageFont.load_default(30), anchor="mm")
    draw.text((320, 235), "98000 MONACO", fill="white", font=ImageFont.load_default(26), anchor="mm")
    image.save(path)
