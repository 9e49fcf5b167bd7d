"""Videos at the service: frames become photos of a case, one run for each place; nothing stays of what is refused."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from clips import board, still, write_clip
from geosleuth.server import CaseService, RunRequest, RunRow, WrongState
from geosleuth.server.video import merge_places
from geosleuth.support.errors import BadInput
from services import case_with_photo, ended, everything_in, open_service, pieces, recording


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    shots = [still(board(0, "Helsinki"), 1), still(board(1, "Liechtenstein"), 1)]
    return write_clip(tmp_path_factory.mktemp("clips") / "walk.mp4", shots, rate=8, size=(640, 360)).read_bytes()


def test_a_video_becomes_photos_and_each_place_has_its_run(tmp_path: Path, clip: bytes) -> None:
    async def work(service: CaseService) -> None:
        case = (await service.new_case("walk")).id
        (video,) = await service.add_video(case, "walk.mp4", pieces(clip))
        assert [place["spans"][0][0] for place in video["places"]] == [0.0, 1.0]
        assert [place["run"] for place in video["places"]] == [None, None]
        photos = [[frame["photo"] for frame in place["frames"]] for place in video["places"]]
        names = {photo.number: photo.name for photo in (await service.case(case)).photos}
        assert sorted(names) == sorted(number for numbers in photos for number in numbers)
        assert all(name.startswith("walk.mp4 0:0") for name in names.values())
        model = recording(tmp_path)
        with pytest.raises(BadInput, match="no photo 99"):
            await service.start(case, RunRequest(model=model), [99])
        for numbers in photos:
            run = await service.start(case, RunRequest(model=model), numbers)
            assert run.photos == tuple(numbers)
            assert (await ended(service, run.id)).state == "done"
        # Both recordings say Rue Grimaldi, so that both are one place.
        (after,) = await service.videos(case)
        assert len(after["places"]) == 1
        assert after["places"][0]["spans"] == [place["spans"][0] for place in video["places"]]
        assert [frame["photo"] for frame in after["places"][0]["frames"]] == [one for both in photos for one in both]
        await service.change_settings(granularity="city")
        (capped,) = await service.videos(case)
        assert capped["places"][0]["frames"][0]["reads"] == []
        await service.delete_case(case)

    open_service(tmp_path / "service", work)
    assert b"Helsinki" not in everything_in(tmp_path / "service")
    assert b"walk.mp4" not in everything_in(tmp_path / "service")


def test_what_is_no_video_is_refused_and_leaves_nothing(tmp_path: Path, clip: bytes) -> None:
    async def work(service: CaseService) -> None:
        case = (await service.new_case()).id
        for data, words in (
            (b"", "empty"), (b"#EXTM3U\nfile:///etc/passwd\n", "no video"), (clip[:400], "cut short or damaged"),
        ):  # fmt: skip
            with pytest.raises(BadInput, match=words) as refused:
                await service.add_video(case, "a.mp4", pieces(data))
            assert str(tmp_path) not in str(refused.value)
        assert (await service.case(case)).photos == ()
        assert await service.videos(case) == []
        with pytest.raises(WrongState, match="case of its own"):
            await service.add_video(await case_with_photo(service), "a.mp4", pieces(clip))

    open_service(tmp_path / "service", work)
    assert list((tmp_path / "service" / "cases").rglob("*.part")) == []


def test_the_finer_of_two_runs_stands_for_a_place() -> None:
    def run(name: str, photos: tuple[int, ...], **answer: float) -> RunRow:
        now = datetime.now(UTC)
        return RunRow(name, "case", None, "done", RunRequest(), "exact", photos, now, answer={"place": name, **answer})

    places = [
        {"spans": [[at, at + 1.0]], "frames": [{"photo": at + 1, "seconds": at + 0.5, "reads": ["x"]}]}
        for at in range(3)
    ]
    runs = [
        run("coarse", (1,), lat=47.14, lon=9.52, radius_km=9.0),
        run("other", (2,), lat=60.0, lon=24.0, radius_km=1.0),
        run("fine", (3,), lat=47.15, lon=9.52, radius_km=2.0),
    ]
    found = merge_places(places, runs)
    assert [(place["run"], place["spans"]) for place in found] == [
        ("fine", [[0, 1.0], [2, 3.0]]),
        ("other", [[1, 2.0]]),
    ]
