"""``geosleuth locate``: where was this photo taken?"""

from pathlib import Path
from typing import Annotated, Optional

import typer

_MODEL = "Models and budgets"
_WAY = "How to go about it"
_REACH = "What may be reached"


def locate(
    photos: Annotated[
        list[Path], typer.Argument(metavar="PHOTO...", help="One photo, or several that were taken at one place.")
    ],
    *,
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            rich_help_panel=_MODEL,
            help="Who thinks: openai:…, anthropic:…, google:…, mistral:…, groq:…, openrouter:…, bedrock:…, ollama:…, "
            "server:NAME with --base-url, hf:DIRECTORY for weights on disk, replay:TRAJECTORY.",
        ),
    ],
    base_url: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="URL", rich_help_panel=_MODEL, help="Where the model is served."),
    ] = None,
    turns: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, rich_help_panel=_MODEL, help="Replies of the model, at most."),
    ] = None,
    calls: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=0, rich_help_panel=_MODEL, help="Tool calls, at most."),
    ] = None,
    tokens: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, rich_help_panel=_MODEL, help="Tokens in and out together, at most."),
    ] = None,
    reply_tokens: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, rich_help_panel=_MODEL, help="Tokens of one reply, at most."),
    ] = None,
    seconds: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(min=0.1, rich_help_panel=_MODEL, help="Seconds, at most."),
    ] = None,
    usd: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(min=0.0, rich_help_panel=_MODEL, help="US dollars, at most."),
    ] = None,
    temperature: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(min=0.0, max=2.0, rich_help_panel=_MODEL, help="How freely replies are drawn."),
    ] = None,
    seed: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(rich_help_panel=_MODEL, help="For models that can repeat themselves."),
    ] = None,
    method: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            metavar="NAME",
            rich_help_panel=_WAY,
            show_default="default, or the recording's own",
            help="default, geovista, spotagent, geoagent, twm or smilegeo.",
        ),
    ] = None,
    tools: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="A,B,…", rich_help_panel=_WAY, help="Only these tools; none for no tool at all."),
    ] = None,
    wire: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(rich_help_panel=_WAY, help="How calls travel: native or tagged; by default as the method has it."),
    ] = None,
    boxes: Annotated[
        str, typer.Option(rich_help_panel=_WAY, help="How the model gives boxes: pixels, or thousandths (0 to 1000).")
    ] = "pixels",
    hint: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="TEXT", rich_help_panel=_WAY, help="What you know about the photo."),
    ] = None,
    area: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="TEXT", rich_help_panel=_WAY, help="Where the place lies, as far as you know."),
    ] = None,
    force_answer: Annotated[
        bool,
        typer.Option("--force-answer", rich_help_panel=_WAY, help="Ask for a best guess, with its honest probability."),
    ] = False,
    offline: Annotated[
        bool, typer.Option("--offline", rich_help_panel=_REACH, help="No network at all, not even this machine's own.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", rich_help_panel=_REACH, help="Send the photo to the model without asking.")
    ] = False,
    maps: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="SERVICE", rich_help_panel=_REACH, help="An online map service; by default the atlas."),
    ] = None,
    web_search: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="SERVICE", rich_help_panel=_REACH, help="An online search; by default the atlas's texts."),
    ] = None,
    image_search: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            metavar="SERVICE|FILE",
            rich_help_panel=_REACH,
            help="An online image search, or an index made by geosleuth photo index.",
        ),
    ] = None,
    allow: Annotated[
        list[str],
        typer.Option(metavar="HOST", rich_help_panel=_REACH, help="A host that map and search services may ask."),
    ] = [],  # noqa: B006
    trajectory: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE", help="Keep every step in this file (JSON lines)."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")
    ] = False,
) -> None:
    """Find out where a photo was taken. The result is a lead with its uncertainty, not a verdict.

    Examples:

      geosleuth locate photo.jpg --model openai:gpt-5

      geosleuth locate photo.jpg --model ollama:qwen3-vl --method twm --trajectory run.jsonl

      geosleuth locate photo.jpg --model hf:models/my-vlm --offline --force-answer --json
    """
    from geosleuth.app.locate_setup import Wishes
    from geosleuth.app.locate_work import locate_photos

    locate_photos(
        Wishes(
            photos=tuple(photos),
            model=model,
            base_url=base_url,
            turns=turns,
            calls=calls,
            tokens=tokens,
            reply_tokens=reply_tokens,
            seconds=seconds,
            usd=usd,
            temperature=temperature,
            seed=seed,
            method=method,
            tools=tools,
            wire=wire,
            boxes=boxes,
            hint=hint,
            area=area,
            force_answer=force_answer,
            offline=offline,
            yes=yes,
            maps=maps,
            web_search=web_search,
            image_search=image_search,
            allow=tuple(allow),
            trajectory=trajectory,
        ),
        as_json=as_json,
    )
