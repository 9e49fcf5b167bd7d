"""``geosleuth doctor``: what is installed here and what is not."""

import platform
from importlib import metadata
from typing import TYPE_CHECKING, Any

import typer

from geosleuth import __version__
from geosleuth.cli.options import JsonFlag
from geosleuth.support.errors import install_command

if TYPE_CHECKING:
    from rich.console import RenderableType

# The extras people choose between, by what they want to do, and what each is for; the parts of each are read from the
# package's own metadata.
EXTRAS_BY_USE = {
    "locate photos and videos": {
        "models": "let a hosted model think, or one on a server of your own",
        "weights": "let a model in a folder of this machine think; priors from better features",
        "media": "open HEIC photos, as phones make them, and videos",
        "atlas": "search Wikipedia in Kiwix files, add Overture Maps places to the atlas",
    },
    "serve": {
        "serve": "the web app, the HTTP API and the MCP server",
    },
    "measure": {
        "lab": "data sets in Parquet, vector indexes, satellite files, many machines, Inspect AI",
    },
    "train": {
        "train": "train policies",
    },
}
EXTRAS = {extra: purpose for extras in EXTRAS_BY_USE.values() for extra, purpose in extras.items()}


def doctor(*, as_json: JsonFlag = False) -> None:
    """Say what is installed, what is not, and the command that brings it.

    Example: geosleuth doctor
    """
    from geosleuth.support.console import show, show_json

    if as_json:
        show_json(doctor_document())
    else:
        show(doctor_view())
        for line in install_lines():
            typer.echo(line)


def doctor_document() -> dict[str, Any]:
    """Return versions, the machine, and for each extra what is installed, what is missing and how to install it."""
    return {
        "geosleuth": __version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "default_model": _default_model(),
        "core": {name: metadata.version(name) for name in _list_distributions("")},
        "extras": {extra: _extra(extra, purpose) for extra, purpose in EXTRAS.items()},
    }


def _default_model() -> dict[str, Any]:
    from geosleuth.pipeline.defaults import NO_MODEL, config_file, read_defaults
    from geosleuth.support.errors import BadInput

    path = config_file()
    try:
        found = read_defaults()
    except BadInput as error:
        return {"model": None, "base_url": None, "file": str(path), "trouble": str(error)}
    where = str(path) if path.is_file() else None
    return {"model": found.model or NO_MODEL, "base_url": found.base_url, "file": where, "trouble": None}


def _extra(extra: str, purpose: str) -> dict[str, Any]:
    versions = {name: _version(name) for name in _list_distributions(extra)}
    missing = [name for name, version in versions.items() if version is None]
    return {
        "for": purpose,
        "installed": {name: version for name, version in versions.items() if version is not None},
        "missing": missing,
        "install": install_command(extra) if missing else None,
    }


def _list_distributions(extra: str) -> list[str]:
    """Return names of the distributions an extra asks for (the core's own with an empty name)."""
    names = []
    for requirement in metadata.requires("geosleuth") or []:
        spec, _, marker = requirement.partition(";")
        wanted = f'extra == "{extra}"' in marker.replace("'", '"') if extra else "extra ==" not in marker
        if wanted:
            names.append(_bare_name(spec))
    return sorted(names)


def _bare_name(spec: str) -> str:
    for position, character in enumerate(spec):
        if character in " <>=!~[(":
            return spec[:position]
    return spec


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def doctor_view() -> "RenderableType":
    """Return the same for people."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    facts = doctor_document()
    table = Table(title="Extras", title_justify="left")
    for name in ("to", "extra", "for", "state"):
        table.add_column(name, overflow="fold")
    for use, extras in EXTRAS_BY_USE.items():
        for position, (extra, purpose) in enumerate(extras.items()):
            missing = facts["extras"][extra]["missing"]
            state = (
                Text(f"missing {', '.join(missing)}", style="yellow") if missing else Text("installed", style="green")
            )
            table.add_row("" if position else use, extra, purpose, state, end_section=position == len(extras) - 1)
    head = f"geosleuth {facts['geosleuth']}, Python {facts['python']}, {facts['machine']}"
    core = ", ".join(f"{name} {version}" for name, version in facts["core"].items())
    default = facts["default_model"]
    told = default["trouble"] or (
        f"default model: {default['model']}"
        + (f" at {default['base_url']}" if default["base_url"] else "")
        + (f" ({default['file']})" if default["file"] else " (the detective; set one with: geosleuth setup)")
    )
    return Group(Text(head), Text(f"core: {core}"), Text(told), table)


def install_lines() -> list[str]:
    """Return the commands that bring what is missing, to be printed as they are: a broken line can't be copied."""
    lines, missing = [], []
    states = doctor_document()["extras"]
    for use, extras in EXTRAS_BY_USE.items():
        wanted = [extra for extra in extras if states[extra]["missing"]]
        lines += [f"To {use}, install what is missing:", *map(install_command, wanted)] if wanted else []
        missing += wanted
    if len(missing) > 1:
        lines += ["All of these at once:", install_command("all" if len(missing) == len(EXTRAS) else ",".join(missing))]
    return lines
