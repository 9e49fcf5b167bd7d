"""``geosleuth locate``: where was this photo taken?"""

from pathlib import Path
from typing import Annotated, Optional

import typer

from geosleuth.app.reach_options import PANEL, Allow, ImageSearch, Maps, Prior, WebSearch

_MODEL = "Models and budgets"
_WAY = "How to go about it"
_KNOWN = "What you know"
_LEAVES = "What comes out"


def locate(
    photos: Annotated[
        list[str],
        typer.Argument(
            metavar="PHOTO...", help="A photo; several, folders or quoted patterns are worked on as a batch."
        ),
    ],
    *,
    out: Annotated[
        list[str],
        typer.Option(
            metavar="FILE",
            rich_help_panel=_LEAVES,
            help="Also write the finding, by the ending: .html (a report), .json, .geojson, .kml, .csv, .dwc.csv, "
            ".xmp; DIR/ for a batch. May be repeated.",
        ),
    ] = [],  # noqa: B006
    granularity: Annotated[
        str,
        typer.Option(
            metavar="LEVEL",
            rich_help_panel=_LEAVES,
            help="Tell nothing finer than this: country, region, city, street or exact.",
        ),
    ] = "exact",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", rich_help_panel=_LEAVES, help="Files that are there already may be replaced.")
    ] = False,
    write_exif: Annotated[
        bool,
        typer.Option(
            "--write-exif",
            rich_help_panel=_LEAVES,
            help="After asking, write a copy of each photo with the estimated place in its metadata.",
        ),
    ] = False,
    sidecars: Annotated[
        bool,
        typer.Option(
            "--sidecars", rich_help_panel=_LEAVES, help="Write an XMP sidecar, PHOTO.jpg.xmp, beside each photo."
        ),
    ] = False,
    within: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            metavar="AREA",
            rich_help_panel=_KNOWN,
            help="Where it must lie: a country, a region, S,W,N,E or LAT,LON,KM, or a GeoJSON file with polygons.",
        ),
    ] = None,
    hint: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="TEXT", rich_help_panel=_KNOWN, help="What you know about the photo."),
    ] = None,
    taken: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="TIME", rich_help_panel=_KNOWN, help="When it was taken, such as 2026-07-14T15:30+02:00."),
    ] = None,
    drives_on: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="SIDE", rich_help_panel=_KNOWN, help="Where traffic keeps to: left or right."),
    ] = None,
    check: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="LAT,LON", rich_help_panel=_KNOWN, help="Say what speaks for this place and against it."),
    ] = None,
    area: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="TEXT", rich_help_panel=_KNOWN, help="Where the place lies, in words for a model."),
    ] = None,
    same_place: Annotated[
        bool, typer.Option("--same-place", rich_help_panel=_WAY, help="The photos were taken at one place: one answer.")
    ] = False,
    batch: Annotated[bool, typer.Option("--batch", rich_help_panel=_WAY, help="A batch, even of one photo.")] = False,
    jobs: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            min=1,
            rich_help_panel=_WAY,
            show_default="2 for the detective, 4 for models",
            help="Photos of a batch that are worked on at once.",
        ),
    ] = None,
    model: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            metavar="NAME",
            rich_help_panel=_MODEL,
            show_default="detective: no model, on this machine",
            help="Who thinks: detective, openai:…, anthropic:…, google:…, mistral:…, groq:…, openrouter:…, bedrock:…, "
            "ollama:…, server:NAME with --base-url, hf:DIRECTORY for weights on disk, replay:TRAJECTORY.",
        ),
    ] = None,
    base_url: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="URL", rich_help_panel=_MODEL, help="Where the model is served."),
    ] = None,
    parallel: Annotated[
        int,
        typer.Option(
            min=1,
            max=64,
            rich_help_panel=_MODEL,
            help="So many tries at once; a verifier decides. Budgets hold for each try, and for the verifier.",
        ),
    ] = 1,
    verifier: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            metavar="NAME",
            rich_help_panel=_MODEL,
            show_default="in code: claims are checked against the atlas",
            help="The model that reads all tries and decides; same for the one that made them.",
        ),
    ] = None,
    chains: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            rich_help_panel=_MODEL,
            show_default="whole up to 4 tries, then facts",
            help="What the verifier reads of each try: whole, or facts (what was observed).",
        ),
    ] = None,
    team: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="TEAM.YAML", rich_help_panel=_MODEL, help="Several agents that review and discuss."),
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
            show_default="the detective's, default for models, or the recording's own",
            help="default, geovista, spotagent, geoagent, twm, smilegeo or detective.",
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
    force_answer: Annotated[
        bool,
        typer.Option("--force-answer", rich_help_panel=_WAY, help="Ask for a best guess, with its honest probability."),
    ] = False,
    offline: Annotated[
        bool, typer.Option("--offline", rich_help_panel=PANEL, help="No network at all, not even this machine's own.")
    ] = False,
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", rich_help_panel=PANEL, help="Send the photo, or write a copy, without asking."),
    ] = False,
    maps: Maps = None,
    web_search: WebSearch = None,
    image_search: ImageSearch = None,
    image_url: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            metavar="URL",
            rich_help_panel=PANEL,
            help="Where the photo is on the web already, for an image search that takes addresses only.",
        ),
    ] = None,
    prior: Prior = None,
    allow: Allow = [],  # noqa: B006
    mcp: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            metavar="SERVERS.JSON",
            rich_help_panel=PANEL,
            help="MCP servers of your own, whose tools a model may use: those that --mcp-allow names.",
        ),
    ] = None,
    mcp_allow: Annotated[
        list[str],
        typer.Option(metavar="SERVER.TOOL", rich_help_panel=PANEL, help="A tool of these servers. May be repeated."),
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

    Without --model nothing leaves this machine: a detective in code reads the text in the photo, looks names up in the
    atlas and weighs the clues.

    Examples:

      geosleuth locate photo.jpg

      geosleuth locate photo.jpg --within France --hint "by the sea" --out report.html --out place.geojson

      geosleuth locate photo.jpg --granularity city --json

      geosleuth locate photo.jpg --check 43.7384,7.4246

      geosleuth locate --same-place front.jpg back.jpg

      geosleuth locate holiday/ --out findings/

      geosleuth locate photo.jpg --model openai:gpt-5

      geosleuth locate photo.jpg --model hf:models/my-vlm --offline --force-answer --json
    """
    from geosleuth.app.locate_batch import inputs_of, locate_batch
    from geosleuth.app.locate_setup import Wishes
    from geosleuth.app.locate_work import locate_photos

    wishes = Wishes(
        model=model,
        base_url=base_url,
        parallel=parallel,
        verifier=verifier,
        chains=chains,
        team=team,
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
        within=within,
        hint=hint,
        area=area,
        taken=taken,
        drives_on=drives_on,
        check=check,
        force_answer=force_answer,
        granularity=granularity,
        offline=offline,
        yes=yes,
        maps=maps,
        web_search=web_search,
        image_search=image_search,
        image_url=image_url,
        prior=prior,
        allow=tuple(allow),
        mcp=mcp,
        mcp_allow=tuple(mcp_allow),
        trajectory=trajectory,
        out=tuple(out),
        overwrite=overwrite,
        write_exif=write_exif,
        sidecars=sidecars,
    )
    paths, many = inputs_of(photos, batch=batch, same_place=same_place)
    if many:
        locate_batch(paths, wishes, as_json=as_json, jobs=jobs)
    else:
        locate_photos(paths, wishes, as_json=as_json)
