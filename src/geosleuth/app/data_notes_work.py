"""What ``geosleuth data import-notes`` does; imported only when it runs."""

import asyncio
from pathlib import Path

import typer

from geosleuth.app.console import SOME_FAILED, progress, quiet_libraries, show_json, talk
from geosleuth.app.data_work import ask_leave
from geosleuth.data import About, StoreWriter
from geosleuth.data.annotations import ByModel, ByRules, Normaliser, import_notes, read_notes
from geosleuth.policies import make_policy


def import_notes_into(
    notes: Path,
    store: Path,
    photos: Path | None,
    *,
    model: str | None,
    base_url: str | None,
    split: str,
    yes: bool,
    as_json: bool,
) -> None:
    """Read every note, bring it into the form, keep it; what the store has already is passed over.

    Raises:
        UserError: something must be mended; what was finished is kept.
        typer.Exit: some notes can't be used.
    """
    read = list(read_notes(notes, photos))
    with quiet_libraries():
        policy = None if model is None else make_policy(model, base_url=base_url)
        if policy is not None:
            ask_leave([policy], yes=yes, told="the notes, and no photo,", kept="the notes")
        normaliser: Normaliser = ByRules() if policy is None else ByModel(policy)
        about = About(
            name="imported-notes",
            title="People's notes on photos, as records of three levels",
            licence="as the notes and photos that were given",
            how_made=f"From {notes.name}: {normaliser.name}. Conclusions are the people's own.",
            settings={"normaliser": normaliser.name},
        )

        async def work() -> tuple[int, int]:
            with StoreWriter(store, about) as writer, progress("importing notes", len(read)) as bar:
                done = 0
                async for made in import_notes(read, normaliser, is_known=writer.__contains__, split=split):
                    writer.add(made)
                    done += 1
                    bar.at(done, len(read), "")
                if policy is not None:
                    await policy.aclose()
                return writer.kept, writer.rejected

        kept, rejected = asyncio.run(work())
    if as_json:
        show_json({"store": str(store), "notes": len(read), "kept": kept, "rejected": rejected})
    else:
        talk(f"{len(read)} notes: the store {store} holds {kept} records, {rejected} could not be used")
    if rejected:
        raise typer.Exit(SOME_FAILED)
