"""Working through a data set: order, tries, errors and their retry, stops of every kind, what onlookers see."""

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench_child import Options, data_of, make_photos, manifest_of, replayed, true_place, work
from geosleuth.agent import Spent, TrajectoryWriter, read_trajectory
from geosleuth.answer import Answer
from geosleuth.lab.bench.run import (
    Attempt,
    Attempted,
    Job,
    LocalWorker,
    RunFolder,
    RunProgress,
    TryRecord,
    run_set,
)
from geosleuth.lab.bench.sets import DataSet, FilePicture, Item
from geosleuth.lab.score import Truth
from geosleuth.models import Usage
from geosleuth.support.errors import BadInput


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_photos(tmp_path_factory.mktemp("made") / "photos", 20)


def tries(run: Path) -> list[TryRecord]:
    with RunFolder.read(run) as folder:
        return list(folder.tries())


def failing(which: Callable[[str], bool], trouble: str = "is busy", host: str | None = "api.example") -> Attempt:
    """A model that fails on some photos; it leaves a trajectory each time."""

    async def attempt(job: Job, keep_in: Path) -> Attempted:
        if not which(job.id):
            return await replayed(job, keep_in)
        TrajectoryWriter(keep_in).close()
        spent = Spent(1, usage=Usage(50, 0, 0, 0.5))
        return Attempted("failed", Answer(), "nobody", "service" if host else "error", spent, trouble, host)

    return attempt


def test_every_photo_is_answered_once_and_keeps_its_trajectory(tmp_path: Path, photos: Path) -> None:
    run = tmp_path / "run"
    ending = work(photos, run, Options(at_once=5))
    assert (ending.why, ending.words) == ("done", "all 20 photos are done")
    told = tries(run)
    assert sorted(one.id for one in told) == [item.id for item in data_of(photos)]
    with RunFolder.read(run) as folder:
        for one in told:
            assert (one.number, one.outcome, one.reason, one.by) == (1, "answered", "answered", "policy")
            trajectory = read_trajectory(folder.trajectory(one.image, 1))
            assert trajectory.answer == one.answer
            assert trajectory.spent == one.spent
            assert "paris" not in folder.trajectory(one.image, 1).read_text()
    again = work(photos, run)
    assert (again.words, again.progress.measured) == ("all 20 photos are done", 20)
    assert tries(run) == told


def test_no_more_than_so_many_are_under_way_or_read_ahead(tmp_path: Path, photos: Path) -> None:
    under_way: set[str] = set()
    most = 0
    read: list[str] = []
    begun: list[str] = []
    farthest = 0

    class Counted(FilePicture):
        def read(self) -> bytes:
            read.append(self.path.stem)
            return super().read()

    def stream() -> Iterator[Item]:
        for file in sorted(photos.glob("*.jpg")):
            yield Item(file.stem, Counted(file), Truth(true_place(file.stem)))

    async def attempt(job: Job, keep_in: Path) -> Attempted:
        nonlocal most, farthest
        begun.append(job.id)
        under_way.add(job.id)
        await asyncio.sleep(0.01)
        most, farthest = max(most, len(under_way)), max(farthest, len(read) - len(begun))
        under_way.discard(job.id)
        return await replayed(job, keep_in)

    data = DataSet(data_of(photos).card, photos, stream)

    async def through() -> None:
        with RunFolder.begin(tmp_path / "run", manifest_of(data)) as folder:
            await run_set(data, folder, LocalWorker(attempt, folder), at_once=3)

    asyncio.run(through())
    assert most == 3
    # Three wait with their files read, and one more is read by then to join them.
    assert farthest <= 4
    assert begun == sorted(begun) == read


def test_errors_are_kept_apart_and_tried_again_alone(tmp_path: Path, photos: Path) -> None:
    run = tmp_path / "run"
    some = failing(lambda one: one.endswith(("3", "7")))
    ending = work(photos, run, Options(at_once=1), attempt=some)
    assert ending.words == "all 20 photos are done, 4 of them failed"
    assert (ending.progress.answered, ending.progress.failed, ending.progress.measured) == (16, 4, 16)
    errors = [json.loads(line) for line in (run / "errors.jsonl").read_text().splitlines()]
    wanted = {"trouble": "is busy", "host": "api.example", "reason": "service", "tries": 1}
    assert errors == [{"id": f"paris-{number:05}", **wanted} for number in (3, 7, 13, 17)]
    # The same command again leaves them alone.
    assert work(photos, run, attempt=some).progress.failed == 4
    assert len(tries(run)) == 20

    worked: list[str] = []

    async def some_better(job: Job, keep_in: Path) -> Attempted:
        worked.append(job.id)
        return await failing(lambda one: one.endswith("13"))(job, keep_in)

    ending = work(photos, run, Options(retry="errors"), attempt=some_better)
    assert sorted(worked) == [error["id"] for error in errors]
    assert (ending.progress.answered, ending.progress.failed) == (19, 1)
    left = [json.loads(line) for line in (run / "errors.jsonl").read_text().splitlines()]
    assert left == [{"id": "paris-00013", **wanted, "tries": 2}]
    with RunFolder.read(run) as folder:
        name = folder.build_name("paris-00013")
        assert [folder.trajectory(name, number).is_file() for number in (1, 2, 3)] == [True, True, False]
        assert folder.index.spent.usage.cost_usd == pytest.approx(19 * 0.01 + 5 * 0.5)
    work(photos, run, Options(retry="errors"))
    one_go = tmp_path / "one-go"
    work(photos, one_go)
    assert (run / "results.jsonl").read_bytes() == (one_go / "results.jsonl").read_bytes()
    assert (run / "errors.jsonl").read_bytes() == b""


def test_a_photo_that_can_t_be_read_or_opened_is_an_error_of_its_own(tmp_path: Path) -> None:
    folder = make_photos(tmp_path / "photos", 6)
    data = data_of(folder)
    manifest = manifest_of(data)
    (folder / "paris-00001.jpg").unlink()
    (folder / "paris-00002.jpg").write_bytes(b"no photo")

    async def through() -> None:
        with RunFolder.begin(tmp_path / "run", manifest) as run:
            ending = await run_set(data, run, LocalWorker(replayed, run), at_once=2)
            assert (ending.why, ending.progress.answered, ending.progress.failed) == ("done", 4, 2)

    asyncio.run(through())
    gone, strange = (json.loads(line) for line in (tmp_path / "run" / "errors.jsonl").read_text().splitlines())
    assert gone == {
        "id": "paris-00001",
        "trouble": "can't be read: No such file or directory",
        "host": None,
        "reason": "error",
        "tries": 1,
    }
    assert strange["id"] == "paris-00002"


def test_a_model_that_keeps_failing_the_same_way_is_given_up(tmp_path: Path, photos: Path) -> None:
    count = iter(range(1000))

    async def attempt(job: Job, keep_in: Path) -> Attempted:
        failed = await failing(lambda _one: True)(job, keep_in)
        return replace(failed, trouble=f"no such model (request {next(count):04x}-17)")

    ending = work(photos, tmp_path / "run", Options(at_once=2), attempt=attempt)
    assert ending.why == "given up"
    assert ending.words.startswith("stopped: 5 times in a row no such model (request 00")
    assert 5 <= ending.progress.failed <= 7
    assert f"{20 - ending.progress.failed} photos are missing" in ending.words
    # Photos that are bad themselves say nothing about the model.
    bad = failing(lambda _one: True, "is no photo", host=None)
    assert work(photos, tmp_path / "other", attempt=bad).progress.failed == 20


def test_what_the_user_must_mend_ends_the_run_after_what_is_under_way(tmp_path: Path, photos: Path) -> None:
    run = tmp_path / "run"

    async def attempt(job: Job, keep_in: Path) -> Attempted:
        if job.id == "paris-00003":
            with TrajectoryWriter(keep_in):
                raise BadInput("the key is wrong; set another")
        await asyncio.sleep(0.05)
        return await replayed(job, keep_in)

    with pytest.raises(BadInput, match="the key is wrong"):
        work(photos, run, Options(at_once=4), attempt=attempt)
    told = {one.id: one.outcome for one in tries(run)}
    assert told == {f"paris-{number:05}": "interrupted" if number == 3 else "answered" for number in range(4)}
    assert json.loads((run / "summary.json").read_text())["answered"] == 3
    assert work(photos, run).progress.answered == 20
    assert [one.number for one in tries(run) if one.id == "paris-00003"] == [1, 2]


@pytest.mark.parametrize(("raised", "heard"), [(KeyError("bug"), KeyError), (asyncio.CancelledError(), RuntimeError)])
def test_a_bug_in_an_attempt_comes_out_and_loses_nothing(
    tmp_path: Path, photos: Path, raised: BaseException, heard: type[Exception]
) -> None:
    async def attempt(job: Job, keep_in: Path) -> Attempted:
        if job.id == "paris-00005":
            raise raised
        return await replayed(job, keep_in)

    with pytest.raises(heard):
        work(photos, tmp_path / "run", Options(at_once=1), attempt=attempt)
    assert len(tries(tmp_path / "run")) == 5
    assert work(photos, tmp_path / "run").progress.answered == 20


def test_a_run_that_is_called_off_keeps_what_is_finished_and_counts_the_rest(tmp_path: Path, photos: Path) -> None:
    run = tmp_path / "run"
    data = data_of(photos)

    async def through() -> None:
        both = asyncio.Barrier(3)

        async def attempt(job: Job, keep_in: Path) -> Attempted:
            done = await replayed(job, keep_in)
            if job.id >= "paris-00006":
                await both.wait()
                await asyncio.sleep(600)
            return done

        with RunFolder.begin(run, manifest_of(data)) as folder:
            work = asyncio.create_task(run_set(data, folder, LocalWorker(attempt, folder), at_once=2))
            await both.wait()
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work

    asyncio.run(through())
    told = tries(run)
    assert sorted(one.id for one in told if one.outcome == "answered") == [f"paris-{n:05}" for n in range(6)]
    cut = sorted((one for one in told if one.outcome == "interrupted"), key=lambda one: one.id)
    # What they had used by then is known from their trajectories, and counts.
    assert [(one.id, one.spent.usage.input_tokens) for one in cut] == [("paris-00006", 100), ("paris-00007", 100)]
    summary = json.loads((run / "summary.json").read_text())
    assert (summary["answered"], summary["missing"], summary["why"]) == (6, 14, "stopped")
    assert (summary["spent"]["interrupted_tries"], summary["spent"]["input_tokens"]) == (2, 800)
    assert (run / "results.jsonl").read_bytes().count(b"\n") == 6
    ending = work(photos, run)
    assert ending.progress.answered == 20
    assert ending.progress.tokens == 22 * 120


def test_tries_that_were_cut_off_unnoticed_are_entered_with_what_they_spent(tmp_path: Path, photos: Path) -> None:
    run = tmp_path / "run"
    data = data_of(photos)
    work(photos, run, Options(limits={"photos": 2}, at_once=1))
    with RunFolder.begin(run, manifest_of(data)) as folder:
        whole = folder.trajectory(folder.build_name("paris-00000"), 1).read_bytes()
        cut = {"paris-00004": whole[:-7], "paris-00005": b"", "paris-00006": b'{"format": "geosl'}
        for photo, content in cut.items():
            folder.place(folder.build_name(photo), 1).write_bytes(content)
        # Of several minds, the tries are there before the verifier; a team's members come after it and are in it.
        several = folder.place(folder.build_name("paris-00007"), 1)
        for beside in ("try1", "try2"):
            several.with_name(f"{several.stem}.{beside}.jsonl").write_bytes(whole)
        team = folder.place(folder.build_name("paris-00008"), 1)
        team.write_bytes(whole)
        team.with_name(f"{team.stem}.run1.jsonl").write_bytes(whole)
        assert len(folder.strays()) == 5
    assert work(photos, run, Options(at_once=3)).progress.answered == 20
    interrupted = {one.id: one for one in tries(run) if one.outcome == "interrupted"}
    spent = {one.id: one.spent.usage.input_tokens for one in interrupted.values()}
    assert spent == {
        "paris-00004": 100,
        "paris-00005": 0,
        "paris-00006": 0,
        "paris-00007": 200,
        "paris-00008": 100,
    }
    with RunFolder.read(run) as folder:
        assert folder.strays() == {}
        for photo in spent:
            newest = folder.newest(photo)
            assert newest is not None
            assert (newest.number, newest.outcome) == (2, "answered")
            assert folder.list_files(newest.image, 1)
        assert folder.trajectory(folder.build_name("paris-00004"), 1).read_bytes() == whole[:-7]


def test_onlookers_see_where_the_run_stands(tmp_path: Path, photos: Path) -> None:
    seen: list[RunProgress] = []
    ended: list[TryRecord] = []
    ending = work(photos, tmp_path / "run", watch=seen.append, ended=ended.append)
    assert (seen[0].done, seen[0].missing, seen[0].eta_s, seen[0].within_25km) == (0, 20, None, None)
    assert seen[-1] == ending.progress
    last = ending.progress
    assert (last.done, last.answered, last.missing, last.under_way, last.eta_s) == (20, 20, 0, 0, 0.0)
    assert last.tokens == 20 * 120
    assert last.usd == pytest.approx(0.2)
    assert len(ended) == 20
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert last.unlocated == summary["unlocated"] > 0
    within = summary["accuracy"]["percent_within_km"]
    assert last.within_25km is not None
    assert 100 * last.within_25km == pytest.approx(within["25"])
    again: list[RunProgress] = []
    work(photos, tmp_path / "run", watch=again.append)
    assert (again[-1].measured, again[-1].within_25km) == (20, last.within_25km)


def test_what_stops_the_reading_of_the_data_set_comes_out(tmp_path: Path, photos: Path) -> None:
    whole = data_of(photos)

    def stream() -> Iterator[Item]:
        for number, item in enumerate(whole):
            if number == 9:
                raise BadInput("labels.csv: line 10 is no row")
            yield item

    broken = DataSet(whole.card, photos, stream)

    async def through() -> None:
        with RunFolder.begin(tmp_path / "run", manifest_of(whole)) as folder:
            await run_set(broken, folder, LocalWorker(replayed, folder), at_once=2)

    with pytest.raises(BadInput, match="line 10 is no row"):
        asyncio.run(through())
    assert len(tries(tmp_path / "run")) == 9
    assert work(photos, tmp_path / "run").progress.answered == 20


@pytest.mark.parametrize(("at_once", "readable"), [(1, True), (8, False)])
def test_two_photos_of_one_id_are_refused_and_spoil_nothing(
    tmp_path: Path, photos: Path, at_once: int, readable: bool
) -> None:
    def stream() -> Iterator[Item]:
        for item in data_of(photos, 3):
            yield item
            gone = FilePicture(tmp_path / "gone.jpg")
            yield replace(item, picture=item.picture if readable else gone, id="paris-00001")

    data = DataSet(data_of(photos).card, photos, stream)

    async def through() -> None:
        with RunFolder.begin(tmp_path / "run", manifest_of(data)) as folder:
            await run_set(data, folder, LocalWorker(replayed, folder), at_once=at_once)

    with pytest.raises(BadInput, match="two photos of the data set have the id 'paris-00001'"):
        asyncio.run(through())
    told = [(one.id, one.number) for one in tries(tmp_path / "run")]
    assert len(told) == len(set(told))


def test_files_are_safe_on_the_disk_before_their_line_and_the_line_before_it_counts(
    tmp_path: Path, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    synced: list[tuple[int, int]] = []
    lines_told: list[tuple[str, int]] = []
    real = os.fsync

    def watched(handle: int) -> None:
        size = (run / "journal.jsonl").stat().st_size if (run / "journal.jsonl").exists() else 0
        real(handle)
        synced.append((os.fstat(handle).st_ino, size))

    def ended(one: TryRecord) -> None:
        lines_told.append((one.image, len(synced)))

    monkeypatch.setattr(os, "fsync", watched)
    work(photos, run, Options(at_once=7), ended=ended)
    journal = (run / "journal.jsonl").stat().st_ino
    with RunFolder.read(run) as folder:
        for image, so_many in lines_told:
            known = folder.index.find_known(image)
            assert known is not None
            file = folder.trajectory(image, 1)
            for path in (file, file.parent):
                assert any(one == path.stat().st_ino and size <= known.offset for one, size in synced[:so_many])
            assert any(one == journal and size > known.offset for one, size in synced[:so_many])
