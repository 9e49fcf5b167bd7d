"""A model on trial: what it costs, and what it says about an example photo."""

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TypedDict

from geosleuth.geo import LatLon, distance_km
from geosleuth.models.registry import SERVICES, ModelTarget, find_target
from geosleuth.names import country_code
from geosleuth.pipeline.defaults import Defaults
from geosleuth.server.model_discovery import Reachable
from geosleuth.support.errors import BadInput, GeosleuthError
from geosleuth.support.text.safe import one_line

# Placeholder for the name of a model that the user has to choose.
MODEL_PLACEHOLDER = "NAME"

_TURNS, _SECONDS, _USD = 4, 180.0, 0.25
# Seconds within which a server must respond at all, before the photo is sent.
_ANSWER_TIMEOUT_S = 5.0

# Approximate input and output tokens for one photo, used for prices.
_TOKENS_PER_PHOTO = 10_000, 1_000

# Where the example photo is: in Monaco, in Avenue Princesse Grace.
_SHOWN, _AT, _NEAR_KM = "MC", LatLon(43.745, 7.431), 5.0


class Tried(TypedDict):
    """Result of a trial."""

    answer: str
    right: bool
    seconds: float
    turns: int
    usd: float | None


def describe_cost(reachable: Reachable) -> str:
    """Return what a photo costs, in words."""
    if reachable.sent_to is None:
        return "free"
    usd = None if reachable.model.endswith(f":{MODEL_PLACEHOLDER}") else price_usd(reachable.model)
    return "see its price list" if usd is None else f"about ${usd:.3f} a photo"


def price_usd(model: str) -> float | None:
    """Return what a photo costs at a service, roughly; None where no price is known."""
    prefix, _, name = model.partition(":")
    with suppress(Exception):  # the list has what it has, and its errors are its own
        from genai_prices import Usage, calc_price

        usage = Usage(input_tokens=_TOKENS_PER_PHOTO[0], output_tokens=_TOKENS_PER_PHOTO[1])
        return float(calc_price(usage, model_ref=name, provider_id=prefix).total_price)
    return None


def check_named(model: str) -> None:
    """Refuse a name in which the model's own is still to be filled in.

    Raises:
        BadInput: it is.
    """
    if model.endswith(f":{MODEL_PLACEHOLDER}"):
        raise BadInput(f"{MODEL_PLACEHOLDER} stands for the model's name; write for example openai:gpt-5")


async def try_model(defaults: Defaults) -> Tried:
    """Let a model work on a drawn photo, which goes to its host; return what came of it.

    Raises:
        BadInput: it fails.
    """
    from geosleuth.pipeline.api import alocate

    fails = f"{defaults.model} does not work, and is not the default"
    await _check_answers(defaults)
    with tempfile.TemporaryDirectory(prefix="geosleuth-") as folder:
        photo = Path(folder) / "example.png"
        _draw(photo)
        try:
            finding = await alocate(
                photo, model=defaults.model, base_url=defaults.base_url, send=True,
                turns=_TURNS, seconds=_SECONDS, usd=_USD, force_answer=True,
            )  # fmt: skip
        except GeosleuthError as error:
            raise BadInput(f"{fails}: {error}") from error
    ended, spent = finding.trajectory.ended, finding.trajectory.spent
    if ended is not None and ended.reason == "service":
        raise BadInput(f"{fails}: {one_line(ended.trouble or 'it fails')}")
    place = finding.answer.address.country.conclusion or finding.answer.address.precise.conclusion
    return {
        "answer": one_line(place or "no place")[:80],
        "right": country_code(finding.answer.address.country.conclusion or "") == _SHOWN
        or (finding.answer.point is not None and distance_km(finding.answer.point, _AT) <= _NEAR_KM),
        "seconds": round(spent.seconds, 1),
        "turns": spent.turns,
        "usd": spent.usage.cost_usd,
    }


async def _check_answers(defaults: Defaults) -> None:
    """Refuse a server at an address of the user's where nothing answers: a run would try for minutes."""
    import httpx

    prefix, _, name = str(defaults.model).partition(":")
    service = SERVICES.get(prefix)
    if service is None or not (service.own or defaults.base_url):
        return
    target = find_target(service, name, defaults.base_url)
    try:
        async with httpx.AsyncClient(timeout=_ANSWER_TIMEOUT_S, trust_env=not target.on_this_machine) as client:
            await client.get(f"{target.base_url.rstrip('/')}/models")  # any reply shows that it is there
    except httpx.TimeoutException as error:
        raise BadInput(
            f"nothing answers at {target.host} within {_ANSWER_TIMEOUT_S:g} s; {_what_to_do(target)}"
        ) from error
    except httpx.HTTPError as error:
        raise BadInput(f"nothing answers at {target.host}; {_what_to_do(target)}") from error


def _what_to_do(target: ModelTarget) -> str:
    start = f" ({target.service.start_hint})" if target.service.start_hint else ""
    return f"start the server there{start}, or correct the address"


def _draw(path: Path) -> None:
    """Draw a street sign of Monaco on a wall: a photo that shows no person."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (640, 420), (222, 205, 170))
    draw = ImageDraw.Draw(image)
    draw.rectangle((90, 110, 550, 290), fill=(22, 58, 140), outline="white", width=8)
    draw.text((320, 175), "AVENUE PRINCESSE GRACE", fill="white", font=ImageFont.load_default(30), anchor="mm")
    draw.text((320, 235), "98000 MONACO", fill="white", font=ImageFont.load_default(26), anchor="mm")
    image.save(path)
