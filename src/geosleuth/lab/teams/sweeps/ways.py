"""Methods of teamwork by name, the settings that a sweep varies, and a store of replies."""

import asyncio
import hashlib
import json
import random
import re
import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from math import inf
from pathlib import Path
from typing import Any, Final

from geosleuth.answer.answer import answer_from_dict, answer_to_dict
from geosleuth.atlas.placing import Placer
from geosleuth.lab.teams.rivals import RIVALS, rival
from geosleuth.models import Usage
from geosleuth.photo import OpenedPhoto
from geosleuth.support.errors import BadInput
from geosleuth.support.files import committed
from geosleuth.teams import Member, Outcome, Reply, Request, Society, StrangersSociety, TrustWeights
from geosleuth.teams.swarm import SwarmSettings, run_swarm
from geosleuth.tools.similar.index_file import pixel_digest

Ask = Callable[[Request], Awaitable[Outcome]]
"""A method of teamwork, ready for a request."""

SWARM, STRANGERS = "swarm", "strangers"
"""The swarm with what it learned, and the same swarm with equal trust."""

WAYS: tuple[str, ...] = (SWARM, STRANGERS, *RIVALS)

PERSONAS_AGAINST_BACKBONES = "personas-against-backbones"
_SETTINGS = ("answerers", "reviewers", "rounds", "agents")
_RANGE = re.compile(r"(\d{1,3})\.\.(\d{1,3})")
_MOST_VALUES = 64
USUAL: tuple[str, ...] = ("answerers=1..8", "reviewers=1..8", "rounds=0,1,3,5,10,15,20")
GRID = "grid"
"""The setting of a sweep over answerers and reviewers together."""
_APPLICATION: Final = 0x67737279
_BUSY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class PartOfSociety:
    """A society restricted to some of its members."""

    whole: Society
    chosen: tuple[int, ...]

    def trust_weights(self, photos: Sequence[OpenedPhoto]) -> TrustWeights:
        """Return the trust weights of those members."""
        all_of_them = self.whole.trust_weights(photos)
        return TrustWeights(
            tuple(all_of_them.election[i] for i in self.chosen),
            tuple(tuple(all_of_them.links[i][j] for j in self.chosen) for i in self.chosen),
        )


class RememberedSociety:
    """A society that evaluates each picture once."""

    def __init__(self, society: Society) -> None:
        self._society = society
        self._seen: dict[tuple[bytes, ...], TrustWeights] = {}

    def trust_weights(self, photos: Sequence[OpenedPhoto]) -> TrustWeights:
        """Return the society's trust weights."""
        key = tuple(pixel_digest(photo.photo.image) for photo in photos)
        if key not in self._seen:
            self._seen[key] = self._society.trust_weights(photos)
        return self._seen[key]


def ready(
    way: str,
    members: Sequence[Member],
    *,
    placer: Placer,
    society: Society | None = None,
    settings: SwarmSettings | None = None,
    lead: int = 0,
    seed: int = 0,
) -> Ask:
    """Return a method that only needs a request.

    Args:
        way: one of `WAYS`.
        members: the members.
        placer: resolves the places that answers name.
        society: the swarm's trust; None for equal trust.
        settings: of the swarm; rivals use its limits and its threshold.
        lead: the member who works alone or ranks, for rivals that have one.
        seed: the randomness depends on it and on the picture.

    Raises:
        BadInput: the name is unknown.
    """
    used = settings or SwarmSettings()
    if way in (SWARM, STRANGERS):
        trusted = society if way == SWARM and society is not None else StrangersSociety(len(members))

        async def swarm(request: Request) -> Outcome:
            drawn = "".join(pixel_digest(photo.photo.image).hex() for photo in request.photos)
            rng = random.Random(f"{seed} {drawn}")  # noqa: S311 - no secret depends on it
            return await run_swarm(members, request, society=trusted, placer=placer, settings=used, rng=rng)

        return swarm
    run = rival(way).run

    async def other(request: Request) -> Outcome:
        return await run(
            members,
            request,
            placer=placer,
            lead=lead,
            within_km=used.within_km,
            seconds_per_reply=used.seconds_per_reply,
        )

    return other


def read_ways(words: str) -> tuple[str, ...]:
    """Parse names separated by commas, each once; "all" is every method.

    Raises:
        BadInput: a name is unknown.
    """
    if words.strip().casefold() == "all":
        return WAYS
    names = [name.strip().casefold() for name in words.split(",") if name.strip()]
    for name in names:
        if name not in WAYS:
            raise BadInput(f"unknown method of teamwork {name[:40]!r}; choose from {', '.join(WAYS)}")
    if not names:
        raise BadInput(f"no method of teamwork named; choose from {', '.join(WAYS)}")
    return tuple(dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class Variation:
    """A setting and its values; for a grid the values of answerers, and those of reviewers."""

    setting: str
    values: tuple[int, ...] = ()
    reviewers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Point:
    """One run of a sweep: the value, its line in the plot, the swarm's settings, the members, the way of working.

    ``leader`` is who works alone or ranks, if it takes part; else the first does.
    """

    setting: str
    value: int
    line: str
    settings: SwarmSettings
    chosen: tuple[int, ...]
    way: str = SWARM
    leader: int = 0


def read_variation(words: str) -> Variation:
    """Parse ``answerers=1..8``, ``rounds=0,1,3``, ``answerers=1..4*reviewers=0..3`` or ``personas-against-backbones``.

    Raises:
        BadInput: it can't be parsed; the message shows the form.
    """
    if "*" in words:
        both = {one.setting: one.values for one in map(read_variation, words.split("*"))}
        if both.keys() != {"answerers", "reviewers"} or words.count("*") > 1:
            raise BadInput(f"--vary {words.strip()[:60]!r}: a grid is answerers=1..4*reviewers=0..3")
        return Variation(GRID, both["answerers"], both["reviewers"])
    setting, _, values = words.strip().casefold().partition("=")
    setting = setting.strip()
    if setting == PERSONAS_AGAINST_BACKBONES and not values:
        return Variation(setting)
    if setting not in _SETTINGS:
        raise BadInput(
            f"--vary {words.strip()[:40]!r}: write one of {', '.join(f'{name}=1..8' for name in _SETTINGS)}, "
            f"or {PERSONAS_AGAINST_BACKBONES}"
        )
    found: set[int] = set()
    for part in values.split(","):
        if ends := _RANGE.fullmatch(part.strip()):
            found.update(range(int(ends[1]), int(ends[2]) + 1))
        elif part.strip().isdecimal() and len(part.strip()) <= 3:
            found.add(int(part))
        else:
            raise BadInput(f"--vary {words.strip()[:40]!r}: write values as {setting}=1..8 or {setting}=1,3,5")
    lowest = 0 if setting in ("reviewers", "rounds") else 1
    if not found or min(found) < lowest or len(found) > _MOST_VALUES:
        raise BadInput(f"--vary {words.strip()[:40]!r}: {setting} takes up to {_MOST_VALUES} values from {lowest} on")
    return Variation(setting, tuple(sorted(found)))


def points(
    variations: Sequence[Variation], settings: SwarmSettings, backbones: Sequence[str], ways: Sequence[str] = (SWARM,)
) -> list[Point]:
    """Return all runs of a sweep.

    Args:
        variations: what varies; values too large for the team are left out, see `too_large`.
        settings: the swarm's own.
        backbones: the model behind each member, in order; equal names are the same model.
        ways: the ways of working; other settings than the number of agents vary the swarm alone.

    Raises:
        BadInput: no run is left.
    """
    found = [point for variation in variations for point in _of(variation, settings, backbones, ways)]
    if not found:
        raise BadInput(f"no value fits a team of {len(backbones)}; give a larger team or other values")
    return found


def too_large(variations: Sequence[Variation], agents: int) -> dict[str, tuple[int, ...]]:
    """Return the values that are too large for a team of so many agents, by setting."""
    found = {one.setting: tuple(v for v in one.values if v > _most(one.setting, agents)) for one in variations}
    found |= {f"{one.setting}, reviewers": tuple(v for v in one.reviewers if v >= agents) for one in variations}
    return {setting: values for setting, values in found.items() if values}


def _most(setting: str, agents: int) -> float:
    # Nobody reviews itself; a discussion can have any length.
    return {"answerers": agents, GRID: agents, "reviewers": agents - 1, "agents": agents}.get(setting, inf)


def _of(
    variation: Variation, settings: SwarmSettings, backbones: Sequence[str], ways: Sequence[str]
) -> Iterator[Point]:
    setting, everybody = variation.setting, tuple(range(len(backbones)))
    if setting == PERSONAS_AGAINST_BACKBONES:
        yield from _two_kinds(settings, backbones)
        return
    for value in variation.values:
        if value > _most(setting, len(everybody)):
            continue
        if setting == GRID:
            for reviewers in variation.reviewers:
                if reviewers < len(everybody):
                    varied = replace(settings, answerers=value, reviewers=reviewers)
                    yield Point(setting, value, f"{reviewers} reviewers", varied, everybody)
        elif setting == "agents":
            for way in ways:
                yield Point(setting, value, way, settings, everybody[:value], way)
        else:
            yield Point(setting, value, SWARM, _with(settings, setting, value), everybody)


def _with(settings: SwarmSettings, setting: str, value: int) -> SwarmSettings:
    changed: dict[str, Any] = {setting: value}
    return replace(settings, **changed)


def _two_kinds(settings: SwarmSettings, backbones: Sequence[str]) -> Iterator[Point]:
    """Yield growing teams of different models, and of personas over the commonest model."""
    commonest, copies = Counter(backbones).most_common(1)[0]
    different = tuple(dict(reversed([(name, index) for index, name in enumerate(backbones)])).values())
    kinds = {
        "backbones": tuple(sorted(different)),
        "personas": tuple(index for index, name in enumerate(backbones) if name == commonest),
    }
    if len(kinds["backbones"]) < 2 or copies < 2:
        raise BadInput(
            f"{PERSONAS_AGAINST_BACKBONES} needs at least two models, and two agents over one of them; add agents to "
            "the team"
        )
    for line, chosen in kinds.items():
        for count in range(1, len(chosen) + 1):
            yield Point(PERSONAS_AGAINST_BACKBONES, count, line, settings, chosen[:count])


class ReplyStore:
    """A file of replies by request. Several processes may share it; each reply is stored at once."""

    def __init__(self, conn: sqlite3.Connection, path: Path) -> None:
        """Use `open_store` to create one."""
        self._conn, self._path = conn, path
        self._digests: dict[str, str] = {}

    def get(self, key: str) -> Reply | None:
        """Return the stored reply to that request."""
        row = self._conn.execute("SELECT reply FROM reply WHERE key = ?", (key,)).fetchone()
        return None if row is None else _reply_of(json.loads(row[0]), self._path)

    def put(self, key: str, reply: Reply) -> None:
        """Store a reply, without its trajectory."""
        document = {
            "text": reply.text,
            "answer": answer_to_dict(reply.answer),
            "tokens": reply.tokens,
            "usage": asdict(reply.usage),
            "seconds": reply.seconds,
        }
        with _explained(self._path):
            self._conn.execute("INSERT OR IGNORE INTO reply VALUES (?, ?)", (key, json.dumps(document)))

    def key(self, identity: str, request: Request) -> str:
        """Return a key that identifies a request to a member: identity, pixels and all words."""
        asked = [
            identity,
            [self._digest(photo) for photo in request.photos],
            request.stage,
            request.words,
            request.hint,
            request.area,
            request.seed,
            request.force_answer,
        ]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()

    def _digest(self, photo: OpenedPhoto) -> str:
        handle = photo.photo.handle
        if handle not in self._digests:
            self._digests[handle] = pixel_digest(photo.photo.image).hex()
        return self._digests[handle]


@dataclass(slots=True, eq=False)
class _PendingReply:
    """A request in progress: how many wait for its reply, and whether one of them gave up."""

    task: asyncio.Task[Reply]
    waiting: int = 0
    given_up: bool = False


class StoredMember:
    """A member whose replies are looked up in a store before it is asked.

    Failures and replies that somebody gave up on are not stored but tried again, so that a run's result does not
    depend on earlier ones. ``identity`` is what its replies depend on beside the request: model, persona, limits.
    ``asked`` counts the requests that reached the member.
    """

    def __init__(self, member: Member, store: ReplyStore, identity: str = "") -> None:
        self._member, self._store = member, store
        self._identity = identity or member.name
        self._under_way: dict[str, _PendingReply] = {}
        self._tasks: set[asyncio.Task[Reply]] = set()
        self.asked = 0

    @property
    def name(self) -> str:
        """Return the member's name."""
        return self._member.name

    @property
    def hosts(self) -> frozenset[str]:
        """Return the member's hosts."""
        return self._member.hosts

    async def reply(self, request: Request) -> Reply:
        """Return the stored reply, or ask."""
        key = self._store.key(self._identity, request)
        if (known := self._store.get(key)) is not None:
            return known
        if key not in self._under_way:
            task = asyncio.create_task(self._say(request))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            self._under_way[key] = _PendingReply(task)
        asked = self._under_way[key]
        asked.waiting += 1
        try:
            # One caller may give up while others still wait for the same reply.
            reply = await asyncio.shield(asked.task)
        except asyncio.CancelledError:
            asked.given_up = True
            raise
        finally:
            asked.waiting -= 1
            if not asked.waiting or asked.task.done():
                asked.task.cancel()
                if self._under_way.get(key) is asked:
                    del self._under_way[key]
        if reply.failure is None and not asked.given_up:
            self._store.put(key, reply)
        return reply

    async def _say(self, request: Request) -> Reply:
        self.asked += 1
        began = asyncio.get_running_loop().time()
        reply = await self._member.reply(request)
        took = asyncio.get_running_loop().time() - began
        return replace(reply, seconds=reply.seconds or took, trajectory=None)

    async def aclose(self) -> None:
        """Cancel requests in progress; the member itself stays open."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def open_store(path: Path) -> Iterator[ReplyStore]:
    """Open the store at that path; create it if there is none.

    Raises:
        BadInput: the file is something else, or can't be written.
    """
    with _explained(path), closing(sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)) as conn:
        (application,) = conn.execute("PRAGMA application_id").fetchone()
        if not application and not conn.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            conn.execute("PRAGMA journal_mode = WAL")
            with committed(conn):
                conn.execute(f"PRAGMA application_id = {_APPLICATION}")
                conn.execute(
                    "CREATE TABLE IF NOT EXISTS reply (key TEXT PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID"
                )
        elif application != _APPLICATION:
            raise BadInput(f"{path}: not a store of replies; give another file")
        yield ReplyStore(conn, path)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise BadInput(f"{path}: can't store replies here: {error}; give another file") from error


def _reply_of(document: dict[str, Any], path: Path) -> Reply:
    try:
        return Reply(
            document["text"],
            answer_from_dict(document["answer"]),
            document["tokens"],
            Usage(**document["usage"]),
            document["seconds"],
        )
    except (KeyError, TypeError) as error:
        raise BadInput(f"{path}: a stored reply is damaged; delete the file") from error
