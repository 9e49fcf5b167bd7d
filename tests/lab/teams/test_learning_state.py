"""The file that a team learns into: many writers, runs that are cut off, and what those who answer can read of it."""

import asyncio
import inspect
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from expert_pictures import Drawn, draw_pictures, save_pictures
from experts import Known, expert_team
from geosleuth.atlas.placing import Placer
from geosleuth.lab.bench.sets import FilePicture, Item
from geosleuth.lab.teams.learning import (
    QUICK_TRAINING,
    Examples,
    LearningBudget,
    LearnSettings,
    LearnSummary,
    Lesson,
    Notebook,
    Observation,
    learn,
    overview,
    train,
)
from geosleuth.lab.teams.learning.learning import LearnPlan
from geosleuth.lab.teams.learning.learning_db import Notebook as _Notebook
from geosleuth.lab.teams.learning.links import full_links
from geosleuth.photo import open_photo
from geosleuth.support.errors import BadInput
from geosleuth.teams import Reply, Society, TrustWeights
from geosleuth.teams.network import READABLE_TABLES, TrainedSociety, open_for_answering
from members import ScriptedMember, place
from no_atlas import NoAtlas

NAMES = ("agent-1", "agent-2", "agent-3")
SUPPORT = Path(__file__).parents[2] / "support"


class Plain:
    """An encoder that see the mean colour of a picture and nothing else; quick."""

    name = "plain"
    dimension = 3

    def features(self, images: Sequence[object]) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
        rows = [np.asarray(image, dtype=np.float32).mean(axis=(0, 1)) / 255 for image in images]
        return np.stack(rows).astype(np.float32)


def placer() -> Placer:
    return Placer(NoAtlas())


def lesson(number: int) -> Lesson:
    seen = Observation((1.0, 0.0, 0.5), full_links(3), (0.0, 1.0, 0.0), (9, 8, 0))
    return Lesson(number.to_bytes(32), np.array([number % 7, 1, 2], dtype=np.float32), seen, "FR")


@pytest.fixture
def _plain_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here is about what the encoder sees."""
    for module in ("geosleuth.lab.teams.learning.learning", "geosleuth.teams.network"):
        monkeypatch.setattr(f"{module}.load_picture_encoder", lambda *_: Plain())


@pytest.fixture
def drawn(tmp_path: Path) -> tuple[list[Drawn], list[Item]]:
    pictures = draw_pictures(12, 3, size=(96, 72))
    save_pictures(pictures, tmp_path)
    paths = sorted(tmp_path.glob("*.png"))
    return pictures, [Item(path.name, FilePicture(path), one.truth) for path, one in zip(paths, pictures, strict=True)]


def taught(
    drawn: tuple[list[Drawn], list[Item]],
    state: Path,
    budget: LearningBudget | None = None,
    settings: LearnSettings = LearnSettings(rounds=4),  # noqa: B008 - frozen
    count: int = 3,
) -> tuple[LearnSummary, int]:
    """What a run did, and how often the members themselves were asked."""
    pictures, sources = drawn
    team = expert_team(Known(pictures), count=count)
    summary = asyncio.run(
        learn(
            sources,
            team,
            state,
            placer=placer(),
            plan=LearnPlan(settings=settings, budget=budget or LearningBudget()),
            at_once=3,
        )
    )
    return summary, sum(getattr(member, "calls", 0) for member in team)


@pytest.mark.usefixtures("_plain_encoder")
def test_learning_goes_on_where_it_was_and_nobody_is_asked_twice(
    drawn: tuple[list[Drawn], list[Item]], tmp_path: Path
) -> None:
    state = tmp_path / "team.db"
    first, asked = taught(drawn, state, LearningBudget(photos=5))
    assert first.learned == 5
    assert first.stopped == "5 photos were learned from"
    assert first.replies == asked > 0
    second, _ = taught(drawn, state)
    assert (second.known, second.learned) == (first.learned, 12 - first.learned)
    third, asked = taught(drawn, state)
    assert (third.known, third.learned, asked, third.tokens) == (12, 0, 0, 0)
    # Where nothing is new, what was learned stays as it is.
    assert (first.version, second.version, third.version) == (1, 2, 2)
    opened = TrainedSociety.open(state)
    assert (opened.version, opened.lessons) == (2, 12)
    society: Society = opened
    trust_weights = society.trust_weights([open_photo(drawn[1][0].picture.read())])
    assert len(trust_weights.election) == 3
    assert trust_weights == TrainedSociety.open(state).trust_weights([drawn[0][0].photo])


OTHERS = (
    {"link_rule": "printed"},
    {"judged": "reviewed"},
    {"labels": "last"},
    {"within_km": 900.0},
)


def lessons_of(state: Path) -> list[tuple[bytes, Observation]]:
    with Notebook.read(state) as notebook:
        return [(one.key, one.observation) for one in notebook.lessons()]


@pytest.mark.slow
@pytest.mark.usefixtures("_plain_encoder")
@pytest.mark.parametrize("ask_anew", [False, True])
def test_other_settings_learn_again_from_the_stored_replies_what_a_fresh_run_learns(
    drawn: tuple[list[Drawn], list[Item]], tmp_path: Path, ask_anew: bool
) -> None:
    usual = LearnSettings(rounds=8, reviewers=1, ask_anew=ask_anew)
    state = tmp_path / "team.db"
    before, _ = taught(drawn, state, settings=usual, count=2)
    assert (before.learned, before.again) == (12, 0)
    for number, change in enumerate(OTHERS, 2):
        settings = replace(usual, **change)  # type: ignore[arg-type]
        fresh, _ = taught(drawn, tmp_path / f"fresh-{number}.db", settings=settings, count=2)
        again, asked = taught(drawn, state, settings=settings, count=2)
        assert (again.learned, again.again, again.known, again.version) == (0, 12, 0, number), change
        if not ask_anew:
            assert (asked, again.replies, again.tokens) == (0, 0, 0), change
            assert lessons_of(state) == lessons_of(tmp_path / f"fresh-{number}.db"), change
            assert again.weights is not None
            assert fresh.weights is not None
            assert again.weights.pack() == fresh.weights.pack()
            assert TrainedSociety.open(state).usual() == TrainedSociety.open(tmp_path / f"fresh-{number}.db").usual()
    same, asked = taught(drawn, state, settings=settings, count=2)
    assert (same.known, same.again, same.version, asked) == (12, 0, number, 0)


@pytest.mark.slow
@pytest.mark.usefixtures("_plain_encoder")
def test_what_failed_is_asked_again_and_lessons_of_other_settings_teach_nothing(
    drawn: tuple[list[Drawn], list[Item]], tmp_path: Path
) -> None:
    state, (pictures, sources) = tmp_path / "team.db", drawn
    expert, *_ = expert_team(Known(pictures), count=2)

    def run(settings: LearnSettings, sources: Sequence[Item], other: ScriptedMember) -> LearnSummary:
        plan = LearnPlan(settings=settings)
        return asyncio.run(learn(sources, [expert, other], state, placer=placer(), plan=plan))

    alone = LearnSettings(rounds=6, reviewers=0)
    first = run(alone, sources, ScriptedMember("down", [place(1, 1)] * 3, then=Reply(failure="no route")))
    assert (first.learned, first.failure) == (12, "down: no route")
    up = ScriptedMember("down", then=place(1, 1))
    second = run(replace(alone, labels="mean"), sources[:7], up)
    assert (second.again, second.left_out) == (7, {"learned from before with other settings, and not now": 5})
    assert second.replies == len(up.asked) < 7 + 1
    assert second.weights is not None
    assert second.weights.lessons == TrainedSociety.open(state).lessons == overview(state).photos == 7


@pytest.mark.usefixtures("_plain_encoder")
def test_limits_end_the_asking_and_what_was_learned_stays(
    drawn: tuple[list[Drawn], list[Item]], tmp_path: Path
) -> None:
    summary, _ = taught(drawn, tmp_path / "team.db", LearningBudget(tokens=1))
    assert summary.stopped == "1 tokens were spent"
    assert 0 < summary.learned < 12
    summary, _ = taught(drawn, tmp_path / "other.db", LearningBudget(seconds=0.0))
    assert (summary.learned, summary.version) == (0, None)
    assert TrainedSociety.open(tmp_path / "other.db").trust_weights([drawn[0][0].photo]) == TrustWeights.equal(3)


@pytest.mark.usefixtures("_plain_encoder")
def test_photos_that_nobody_can_answer_hold_no_place_and_the_first_failure_is_named(
    drawn: tuple[list[Drawn], list[Item]], tmp_path: Path
) -> None:
    dead = [ScriptedMember(name, then=Reply(failure="no route")) for name in ("ada", "bob")]
    state = tmp_path / "team.db"
    summary = asyncio.run(
        learn(
            drawn[1],
            dead,
            state,
            placer=placer(),
            plan=LearnPlan(settings=LearnSettings(rounds=2), budget=LearningBudget(photos=1)),
            at_once=3,
        )
    )
    assert (summary.learned, dict(summary.left_out), summary.version) == (0, {"nobody answered": 12}, None)
    assert summary.nobody_answered
    assert summary.failure in ("ada: no route", "bob: no route")
    assert TrainedSociety.open(state).version == 0
    assert overview(state).right == ()


WRITER = """
import sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
from pathlib import Path
from test_learning_state import NAMES, Plain, lesson
from geosleuth.lab.teams.learning import Notebook
first, count = int(sys.argv[4]), int(sys.argv[5])
with Notebook.open(Path(sys.argv[3]), NAMES, Plain()) as notebook:
    print("ready", flush=True)
    for number in range(first, first + count):
        notebook.add(lesson(number), {})
        print(number, flush=True)
"""


def writer(state: Path, first: int, count: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(Path(__file__).parent), str(SUPPORT), str(state), str(first), str(count)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )


@pytest.mark.slow
def test_two_processes_that_learn_at_once_lose_nothing(tmp_path: Path) -> None:
    state = tmp_path / "team.db"
    both = [writer(state, 0, 150), writer(state, 100, 150)]
    assert [one.communicate(timeout=120)[0].count("\n") for one in both] == [151, 151]
    assert [one.returncode for one in both] == [0, 0]
    with Notebook.open(state) as notebook:
        assert [int.from_bytes(one.key) for one in notebook.lessons()] == list(range(250))
        assert notebook.info.members == NAMES


@pytest.mark.slow
def test_a_run_that_is_killed_keeps_every_picture_it_had_finished(tmp_path: Path) -> None:
    state = tmp_path / "team.db"
    run = writer(state, 0, 100_000)
    assert run.stdout is not None
    said = [run.stdout.readline() for _ in range(40)]
    run.send_signal(signal.SIGKILL)
    said += run.stdout.readlines()
    run.stdout.close()
    run.wait(timeout=30)
    done = [int(line) for line in said[1:] if line.strip().isdigit()]
    with Notebook.open(state, NAMES, Plain()) as notebook:
        kept = {int.from_bytes(one.key) for one in notebook.lessons()}
        assert kept >= set(done[:-1])
        assert not notebook.add(lesson(done[0]), {})
        assert notebook.add(lesson(10**6), {})


def learned_state(folder: Path) -> Path:
    state = folder / "team.db"
    lessons = [lesson(number) for number in range(30)]
    with Notebook.open(state, NAMES, Plain()) as notebook:
        for one in lessons:
            notebook.add(one, {})
        features = np.stack([one.features for one in lessons])
        notebook.keep(
            train(
                Examples.from_observations(features, [one.observation for one in lessons]),
                replace(QUICK_TRAINING, epochs=80),
            )
        )
    return state


def test_members_may_stand_in_another_order_but_must_be_the_same(tmp_path: Path) -> None:
    state = learned_state(tmp_path)
    usual = TrainedSociety.open(state, encoder=Plain()).usual()
    turned = TrainedSociety.open(state, NAMES[::-1], encoder=Plain())
    assert turned.members == NAMES[::-1]
    assert turned.usual().election == usual.election[::-1]
    assert turned.usual().links == tuple(row[::-1] for row in usual.links[::-1])
    assert usual.election[0] > usual.election[2] > usual.election[1]
    with pytest.raises(BadInput, match="was learned by agent-1"):
        TrainedSociety.open(state, ("agent-1", "agent-2"), encoder=Plain())
    with pytest.raises(BadInput, match="another --state"), Notebook.open(state, ("a", "b"), Plain()):
        pass
    other = Plain()
    other.name = "else"
    with pytest.raises(BadInput, match="with the encoder 'plain'"):
        TrainedSociety.open(state, encoder=other)


def test_whoever_answers_can_not_read_what_was_learned_from(tmp_path: Path) -> None:
    state = learned_state(tmp_path)
    with open_for_answering(state) as conn:
        assert conn.execute("SELECT count(*) FROM member").fetchone() == (3,)
        for forbidden in (
            "SELECT * FROM lesson",
            "SELECT country FROM lesson",
            "SELECT 1 WHERE EXISTS (SELECT key FROM lesson)",
            "SELECT name FROM member UNION SELECT country FROM lesson",
            "WITH a AS (SELECT labels FROM lesson) SELECT * FROM a",
            "DELETE FROM weights",
            "CREATE VIEW v AS SELECT * FROM lesson",
            "ATTACH DATABASE ':memory:' AS other",
        ):
            with pytest.raises(sqlite3.DatabaseError):
                conn.execute(forbidden).fetchall()
    assert "lesson" not in READABLE_TABLES


def test_the_type_that_answers_holds_no_way_to_a_truth(tmp_path: Path) -> None:
    opened = TrainedSociety.open(learned_state(tmp_path), encoder=Plain())
    assert not hasattr(opened, "__dict__")
    for name in TrainedSociety.__slots__:
        held = getattr(opened, name)
        assert not isinstance(held, (sqlite3.Connection, Path, _Notebook))
    public = {name for name in dir(opened) if not name.startswith("_")}
    assert public == {
        "lessons", "members", "open", "trust_weights", "weights_by_features", "trust", "usual", "version",
    }  # fmt: skip
    taken = inspect.signature(TrainedSociety.trust_weights).parameters
    assert list(taken) == ["self", "photos"]


def test_nothing_of_where_pictures_were_taken_is_in_the_file_but_the_country(
    drawn: tuple[list[Drawn], list[Item]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("geosleuth.lab.teams.learning.learning", "geosleuth.teams.network"):
        monkeypatch.setattr(f"{module}.load_picture_encoder", lambda *_: Plain())
    state = tmp_path / "team.db"
    taught(drawn, state)
    with sqlite3.connect(state) as conn:
        columns = [row[1] for row in conn.execute("PRAGMA table_info(lesson)")]
        rows = conn.execute("SELECT * FROM lesson").fetchall()
    conn.close()
    assert columns == ["key", "features", "labels", "distances", "links", "answers", "country", "settings"]
    assert all(b"picture-" not in b"".join(part for part in row if isinstance(part, bytes)) for row in rows)
    assert {len(row[6]) for row in rows} == {2}


def test_files_that_are_no_state_are_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="geosleuth team learn"):
        TrainedSociety.open(tmp_path / "gone.db")
    (tmp_path / "text.db").write_text("this is no database at all, " * 100)
    with pytest.raises(BadInput, match="not a team's state"):
        TrainedSociety.open(tmp_path / "text.db")
    with sqlite3.connect(tmp_path / "other.db") as conn:
        conn.execute("CREATE TABLE t (x)")
    conn.close()
    with pytest.raises(BadInput, match="not a team's state"):
        TrainedSociety.open(tmp_path / "other.db")
    state = learned_state(tmp_path)
    with sqlite3.connect(state) as conn:
        conn.execute("UPDATE weights SET arrays = x'00'")
    conn.close()
    with pytest.raises(BadInput, match="damaged"):
        TrainedSociety.open(state, encoder=Plain())


def test_opening_a_state_changes_nothing_and_works_while_others_write(tmp_path: Path) -> None:
    state = learned_state(tmp_path)
    with Notebook.open(state) as notebook:
        begin = time.monotonic()
        notebook._conn.execute("BEGIN IMMEDIATE")
        assert TrainedSociety.open(state, encoder=Plain()).lessons == 30
        assert time.monotonic() - begin < 20
        notebook._conn.execute("ROLLBACK")
