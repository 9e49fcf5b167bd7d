"""The life of a case at a service: photos in, runs, their results and files, everything gone when it is deleted."""

import asyncio
import io
import os
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from geosleuth.photo import PhotoLimits
from geosleuth.server import CaseService, NotThere, RunRequest, ServiceLimits, TooLarge, TooMany, WrongState
from geosleuth.server.jobs import Jobs
from geosleuth.support.errors import BadInput
from services import all_told, case_with_photo, ended, everything_in, open_service, photo_bytes, pieces, recording

pytestmark = pytest.mark.usefixtures("atlas_home")
MARK = "Zanzibaraldique"


def test_photos_are_shown_without_what_their_files_say(tmp_path: Path) -> None:
    stream = io.BytesIO()
    image = Image.open(io.BytesIO(photo_bytes(size=(900, 600))))
    exif = image.getexif()
    exif[0x010E] = MARK
    image.save(stream, "JPEG", exif=exif)

    async def work(service: CaseService) -> None:
        case = await service.new_case()
        photo = await service.add_photo(case.id, "../../etc/wall\u202egpj.jpg", pieces(stream.getvalue(), 1000))
        assert (photo.number, photo.width, photo.height, photo.format) == (1, 900, 600, "JPEG")
        assert "/" not in photo.name
        assert "\u202e" not in photo.name
        for most_px in (320, 2048, 100):
            shown = await service.photo_jpeg(case.id, 1, most_px=most_px)
            assert MARK.encode() not in shown
            with Image.open(io.BytesIO(shown)) as small:
                assert max(small.size) == min(most_px, 900)
        await service.delete_photo(case.id, 1)
        with pytest.raises(NotThere):
            await service.photo_jpeg(case.id, 1, most_px=320)
        again = await service.add_photo(case.id, "b.jpg", pieces(photo_bytes()))
        assert again.number == 2

    open_service(tmp_path / "service", work)
    assert MARK.encode() not in everything_in(tmp_path / "service")


def test_what_is_no_photo_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    whole = photo_bytes(size=(600, 400))
    hostile = {
        "empty": b"",
        "a text": f"{MARK} is no photo".encode(),
        "cut short": whole[: len(whole) // 2],
        "a page": b"<html><script>alert(1)</script>",
        "svg": b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>",
        "too many pixels": _png_of(60_000, 60_000),
        "a zip": b"PK\x03\x04" + bytes(500),
    }

    async def work(service: CaseService) -> None:
        case = await service.new_case()
        for name, data in hostile.items():
            with pytest.raises(BadInput, match=r"\S") as refusal:
                await service.add_photo(case.id, name, pieces(data))
            assert str(tmp_path) not in str(refusal.value)
            assert "\n" not in str(refusal.value)
        with pytest.raises(TooLarge):
            await service.add_photo(case.id, "endless", _endless())
        assert (await service.case(case.id)).photos == ()
        with pytest.raises(BadInput, match="no photo"):
            await service.start(case.id, RunRequest())
        assert (await service.add_photo(case.id, "fine.jpg", pieces(whole))).width == 600

    limits = ServiceLimits(photo=PhotoLimits(max_bytes=300_000, max_pixels=2_000_000))
    open_service(tmp_path / "service", work, limits=limits)
    photos = list((tmp_path / "service" / "cases").glob("*/photos/*"))
    assert len(photos) == 1
    assert MARK.encode() not in everything_in(tmp_path / "service")


def test_a_photo_that_takes_too_much_breaks_nothing_else(tmp_path: Path) -> None:
    stream = io.BytesIO()
    Image.new("1", (12_000, 12_000)).save(stream, "PNG")

    async def work(service: CaseService) -> None:
        case = await service.new_case()
        with pytest.raises(BadInput, match="memory"):
            await service.add_photo(case.id, "huge.png", pieces(stream.getvalue()))
        assert (await service.add_photo(case.id, "fine.jpg", pieces(photo_bytes()))).width == 240

    open_service(tmp_path / "service", work, limits=ServiceLimits(opening_bytes=500 * 1024**2))

    async def in_no_time(service: CaseService) -> None:
        case = await service.new_case()
        with pytest.raises(BadInput, match="longer"):
            await service.add_photo(case.id, "fine.jpg", pieces(photo_bytes()))

    open_service(tmp_path / "service", in_no_time, limits=ServiceLimits(opening_s=0.01))


def test_a_case_takes_so_many_pixels(tmp_path: Path) -> None:
    async def work(service: CaseService) -> None:
        case = await case_with_photo(service)
        with pytest.raises(BadInput, match="million pixels allowed together"):
            await service.add_photo(case, "wall.jpg", pieces(photo_bytes(70)))
        assert len((await service.case(case)).photos) == 1

    open_service(tmp_path / "service", work, limits=ServiceLimits(photo=PhotoLimits(max_case_pixels=60_000)))


@pytest.mark.slow
def test_so_many_photos_come_in_at_once(tmp_path: Path) -> None:
    async def work(service: CaseService) -> None:
        case = await service.new_case("A case")
        hold = asyncio.Event()

        async def slow() -> AsyncIterator[bytes]:
            await hold.wait()
            yield photo_bytes()

        coming = [asyncio.create_task(service.add_photo(case.id, "wall.jpg", slow())) for _ in range(2)]
        await asyncio.sleep(0.2)
        with pytest.raises(TooMany, match="2 photos are coming in already"):
            await service.add_photo(case.id, "wall.jpg", pieces(photo_bytes()))
        hold.set()
        await asyncio.gather(*coming)
        await service.add_photo(case.id, "wall.jpg", pieces(photo_bytes()))

    open_service(tmp_path / "service", work, limits=ServiceLimits(uploads=2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limits", "trouble"),
    [
        (ServiceLimits(photos_per_case=2), TooMany),
        pytest.param(ServiceLimits(photo=PhotoLimits(max_case_pixels=100_000)), BadInput, marks=pytest.mark.slow),
    ],
)
def test_photos_that_race_for_the_last_place_do_not_all_get_it(
    tmp_path: Path, limits: ServiceLimits, trouble: type[Exception]
) -> None:
    async def work(service: CaseService) -> None:
        case = await service.new_case("A case")
        hold = asyncio.Event()

        async def slow() -> AsyncIterator[bytes]:
            await hold.wait()
            yield photo_bytes()

        coming = [asyncio.create_task(service.add_photo(case.id, "wall.jpg", slow())) for _ in range(4)]
        await asyncio.sleep(0.2)
        hold.set()
        ends = await asyncio.gather(*coming, return_exceptions=True)
        assert [type(end) for end in ends if isinstance(end, Exception)] == [trouble, trouble]
        assert len((await service.case(case.id)).photos) == 2

    open_service(tmp_path / "service", work, limits=limits)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems don't hold processes to RLIMIT_DATA")
@pytest.mark.slow
def test_a_run_that_takes_too_much_memory_ends_alone(tmp_path: Path) -> None:
    model = recording(tmp_path)

    async def work(service: CaseService) -> None:
        small = await case_with_photo(service)
        stream = io.BytesIO()
        Image.new("RGB", (12_000, 10_000), (90, 120, 40)).save(stream, "PNG")
        large = await case_with_photo(service, data=stream.getvalue())
        under_way = [await service.start(case, RunRequest(model=model)) for case in (large, small)]
        rows = [await ended(service, run.id) for run in under_way]
        assert [row.state for row in rows] == ["failed", "done"]
        trouble = rows[0].trouble or ""
        assert trouble == "photo 1: there is not enough memory to open it; give a smaller copy of the photo"

    open_service(tmp_path / "service", work, limits=ServiceLimits(run_bytes=400 * 1024**2))


def test_an_upload_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    async def broken() -> Any:
        yield photo_bytes()
        raise ConnectionResetError

    async def work(service: CaseService) -> None:
        case = await service.new_case()
        with pytest.raises(ConnectionResetError):
            await service.add_photo(case.id, "a.jpg", broken())
        assert (await service.case(case.id)).photos == ()

    open_service(tmp_path / "service", work)
    assert not list((tmp_path / "service" / "cases").glob("*/photos/*"))


def test_deleted_means_deleted(tmp_path: Path) -> None:
    model = recording(tmp_path, precise={"conclusion": MARK})
    image = Image.open(io.BytesIO(photo_bytes()))
    exif, stream = image.getexif(), io.BytesIO()
    exif[0x010E] = MARK
    image.save(stream, "JPEG", exif=exif)

    async def work(service: CaseService) -> None:
        kept = await case_with_photo(service, "kept")
        case = await service.new_case(f"{MARK} title", f"{MARK} notes " * 400)
        await service.add_photo(case.id, f"{MARK}.jpg", pieces(stream.getvalue()))
        run = await service.start(case.id, RunRequest(model=model, hint=f"{MARK} street"))
        assert (await ended(service, run.id)).state == "done"
        other = await service.start(case.id, RunRequest(model=model))
        await ended(service, other.id)
        await service.delete_run(other.id)
        with pytest.raises(NotThere):
            await service.run(other.id)
        assert MARK.encode() in everything_in(tmp_path / "service")
        await service.delete_case(case.id)
        assert MARK.encode() not in everything_in(tmp_path / "service")
        for asked in (service.case(case.id), service.run(run.id), service.view(run.id), all_told(service, run.id)):
            with pytest.raises(NotThere):
                await asked
        assert [one.id for one in await service.cases()] == [kept]

    open_service(tmp_path / "service", work)
    assert MARK.encode() not in everything_in(tmp_path / "service")


@pytest.mark.slow
def test_a_case_is_deleted_while_somebody_works_on_it(tmp_path: Path) -> None:
    async def work(service: CaseService) -> None:
        case_id = await case_with_photo(service)
        run = await service.start(case_id, RunRequest())
        watching = asyncio.create_task(all_told(service, run.id))
        await asyncio.sleep(0.2)
        await service.delete_case(case_id)
        told = await asyncio.wait_for(watching, 5)
        assert told[0].kind == "state"
        with pytest.raises(NotThere):
            await service.case(case_id)

    open_service(tmp_path / "service", work)
    assert not list((tmp_path / "service" / "cases").iterdir())


async def _until_gone(pid: int) -> None:
    for _ in range(200):
        os.kill(pid, 0)
        await asyncio.sleep(0.05)


@pytest.mark.slow
def test_a_run_that_begins_while_its_case_is_deleted_is_called_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, call_off = recording(tmp_path, 400), Jobs.cancel
    at_work: list[int] = []

    async def work(service: CaseService) -> None:
        case_id = await case_with_photo(service)
        await service.start(case_id, RunRequest(model=model))

        async def meanwhile(jobs: Jobs, run_id: str) -> None:
            await call_off(jobs, run_id)
            if not at_work:
                run = await service.start(case_id, RunRequest(model=model))
                async for told in service.watch(run.id):
                    if told.kind == "said":
                        break
                at_work.extend(jobs.pids)

        monkeypatch.setattr(Jobs, "cancel", meanwhile)
        await service.delete_case(case_id)
        (pid,) = at_work
        # The process is ended right behind the run, on a busy machine a little later.
        with pytest.raises(ProcessLookupError):
            await _until_gone(pid)

    open_service(tmp_path / "service", work)


@pytest.mark.slow
def test_what_a_crash_left_of_a_deleted_run_is_swept_up(tmp_path: Path) -> None:
    model, folder = recording(tmp_path), tmp_path / "service"

    async def work(service: CaseService) -> Path:
        case_id = await case_with_photo(service)
        run = await service.start(case_id, RunRequest(model=model))
        await ended(service, run.id)
        return folder / "cases" / case_id / "runs" / f"{run.id}.jsonl"

    kept = open_service(folder, work)
    left = [
        kept.with_name(name) for name in ("0123456789abcdef.jsonl", "0123456789abcdef.try1.jsonl", f".{kept.name}.1")
    ]
    for one in left:
        one.write_text(MARK)

    async def nothing(_: CaseService) -> None:
        pass

    open_service(folder, nothing)
    assert list(kept.parent.iterdir()) == [kept]


def test_old_cases_go_when_the_settings_say_so(tmp_path: Path) -> None:
    folder = tmp_path / "service"

    async def work(service: CaseService) -> None:
        old, new = await service.new_case("old"), await service.new_case("new")
        store = service._store
        store._thread.submit(store._db.execute, "UPDATE cases SET changed = 0 WHERE id = ?", (old.id,)).result()
        await service.change_settings(retention_days=30)
        assert [one.id for one in await service.cases()] == [new.id]

    open_service(folder, work)

    async def again(service: CaseService) -> None:
        assert service.settings.retention_days == 30
        assert service.settings.offline

    open_service(folder, again)


def test_pages_of_cases_follow_each_other(tmp_path: Path) -> None:
    async def work(service: CaseService) -> None:
        made = [(await service.new_case(f"case {number}")).id for number in range(7)][::-1]
        first = [one.id for one in await service.cases(limit=3)]
        then = [one.id for one in await service.cases(limit=3, before=first[-1])]
        assert first + then == made[:6]
        await service.change_case(made[0], title="100 % sure_thing", notes="<script>")
        assert [one.id for one in await service.cases(query="% SURE_")] == [made[0]]
        assert await service.cases(query="sure%") == []
        changed = await service.case(made[0])
        assert (changed.title, changed.notes) == ("100 % sure_thing", "<script>")
        with pytest.raises(BadInput, match="200"):
            await service.new_case("x" * 201)
        odd = await service.new_case("half a pair \ud83d", "nul \0 inside")
        assert (await service.case(odd.id)).notes == "nul  inside"

    open_service(tmp_path / "service", work)


def test_refuses_a_folder_of_another_version(tmp_path: Path) -> None:
    async def nothing(_: CaseService) -> None:
        pass

    open_service(tmp_path / "service", nothing)
    with closing(sqlite3.connect(tmp_path / "service" / "service.sqlite")) as file:
        file.execute("PRAGMA user_version = 1")
    with pytest.raises(BadInput, match=r"another version of geosleuth; update geosleuth, or move the file"):
        open_service(tmp_path / "service", nothing)


def test_two_services_do_not_share_a_folder(tmp_path: Path) -> None:
    async def work(_: CaseService) -> None:
        with pytest.raises(BadInput, match=r"another geosleuth serve or review is running .* add --home FOLDER"):
            await CaseService.open(tmp_path / "service")

    open_service(tmp_path / "service", work)


@pytest.mark.slow
def test_a_run_is_not_over_before_its_end(tmp_path: Path) -> None:
    model = recording(tmp_path)

    async def work(service: CaseService) -> None:
        case_id = await case_with_photo(service)
        runs = [await service.start(case_id, RunRequest(model=model)) for _ in range(3)]
        last = await service.run(runs[-1].id)
        if last.active:
            with pytest.raises(WrongState):
                await service.view(last.id)
        with pytest.raises(WrongState):
            await service.delete_photo(case_id, 1)
        for run in runs:
            assert (await ended(service, run.id)).state == "done"

    open_service(tmp_path / "service", work)


async def _endless() -> Any:
    while True:
        yield bytes(100_000)


def _png_of(width: int, height: int) -> bytes:
    stream = io.BytesIO()
    Image.new("1", (8, 8)).save(stream, "PNG")
    data = bytearray(stream.getvalue())
    data[16:24] = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return bytes(data)
