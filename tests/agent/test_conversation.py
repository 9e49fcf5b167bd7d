"""What a policy gets to see of a run."""

import asyncio
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from geosleuth.agent import Context, Prompted, Said, ToolObserved, Trajectory, conversation_of, run
from geosleuth.agent.conversation import cut
from geosleuth.agent.setup import AgentSetup
from geosleuth.policies import Conversation, Message, Observed, Prompt, Step
from geosleuth.tools import Case, ImageInfo, Output, Toolset, tool
from scripted import ScriptedPolicy, answers, call, calls, says
from small_runs import ALL_TOOLS, small_case, small_method


@tool("tell")
async def tell(case: Case, characters: int) -> Output:  # noqa: ARG001
    """Tell a long story.

    Args:
        characters: how long.
    """
    return Output("x" * characters, {"long": characters})


def recorded() -> Trajectory:
    """Four turns with a long result and three crops, then words that are no answer, then an answer."""
    zoom = [call("image_zoom_in_tool", bbox_2d=[0, 0, 50 + 10 * n, 50]) for n in range(3)]
    script = [
        calls(call("tell", characters=5000), zoom[0]),
        calls(zoom[1]),
        calls(zoom[2]),
        says("Pretty."),
        answers(1, 2),
    ]
    toolset = Toolset([*ALL_TOOLS, tell])
    return asyncio.run(
        run(small_case(), AgentSetup(method=small_method(), policy=ScriptedPolicy(script), toolset=toolset))
    )


def seen(context: Context, trajectory: Trajectory | None = None, **options: Any) -> Conversation:
    events = (trajectory or recorded()).events
    return conversation_of(events, context=context, tools=ALL_TOOLS, picture=small_case().album.__getitem__, **options)


def results(messages: tuple[Message, ...]) -> list[str]:
    return [one.text for message in messages if isinstance(message, Observed) for one in message.observations]


def shown_images(messages: tuple[Message, ...]) -> list[str]:
    return [
        image.handle
        for message in messages
        if isinstance(message, Observed)
        for one in message.observations
        for image in one.images
    ]


def test_the_whole_history_is_shown_in_order() -> None:
    found = recorded()
    messages = seen(Context("whole", result_tokens=10, images=1), found).messages
    assert [type(message).__name__ for message in messages] == [
        "Prompt", "Step", "Observed", "Step", "Observed", "Step", "Observed", "Step", "Prompt", "Step",
    ]  # fmt: skip
    assert [message for message in messages if isinstance(message, Step)] == list(found.steps)
    assert results(messages)[0] == "x" * 5000
    assert shown_images(messages) == ["image-2", "image-3", "image-4"]


def test_long_results_are_cut_and_the_cut_is_marked() -> None:
    messages = seen(Context("trimmed", result_tokens=100)).messages
    assert len(results(messages)[0]) <= 400
    assert "[… 4,650 characters left out …]" in results(messages)[0]


@given(st.text(max_size=300), st.integers(60, 200))
def test_a_cut_text_is_never_longer_than_allowed(text: str, characters: int) -> None:
    shown = cut(text, characters)
    assert len(shown) <= characters
    assert shown == text or "characters left out" in shown


def test_only_the_newest_crops_are_shown_and_the_others_are_named() -> None:
    messages = seen(Context("trimmed", images=1)).messages
    assert shown_images(messages) == ["image-4"]
    assert "image-2" in results(messages)[1]
    assert "not shown" in results(messages)[1]
    assert messages[0] == Prompt("Where is this?", ("image-1",))
    assert shown_images(seen(Context("trimmed", images=0)).messages) == []


def test_maps_give_way_to_cuts_of_the_photo() -> None:
    found = recorded()

    def as_maps(*handles: str) -> Trajectory:
        def as_map(image: ImageInfo) -> ImageInfo:
            return replace(image, photo=2) if image.handle in handles else image

        def changed(body: ToolObserved) -> ToolObserved:
            one = body.observation
            return replace(body, observation=replace(one, images=tuple(map(as_map, one.images))))

        events = [
            replace(event, body=changed(event.body)) if isinstance(event.body, ToolObserved) else event
            for event in found.events
        ]
        return replace(found, events=tuple(events))

    two = Context("trimmed", images=2)
    assert shown_images(seen(two, as_maps("image-3")).messages) == ["image-2", "image-4"]
    assert shown_images(seen(two, as_maps("image-4")).messages) == ["image-3", "image-4"], "the newest is always shown"
    assert shown_images(seen(two, as_maps("image-3", "image-4")).messages) == ["image-2", "image-4"]


def test_pictures_that_are_gone_are_named_and_not_shown() -> None:
    messages = seen(Context("trimmed", images=2), missing={"image-4"}).messages
    assert shown_images(messages) == ["image-2", "image-3"]
    assert "image-4" in results(messages)[-1]


def test_the_freshest_replies_come_with_the_task() -> None:
    found = recorded()
    messages = seen(Context("freshest", replies=1), found).messages
    assert messages == (Prompt("Where is this?", ("image-1",)), found.steps[-1])
    two = seen(Context("freshest", replies=2), found).messages
    assert [type(message).__name__ for message in two] == ["Prompt", "Step", "Prompt", "Step"]
    every = seen(Context("freshest", replies=99), found).messages
    assert every == seen(Context("trimmed"), found).messages


def test_a_persons_words_stay_among_the_freshest() -> None:
    found = recorded()
    spoken = replace(found.events[2], body=Prompted(Prompt("Look at the plates."), "person"))
    events = (*found.events[:2], spoken, *found.events[2:])
    messages = conversation_of(
        events, context=Context("freshest"), tools=(), picture=small_case().album.__getitem__
    ).messages
    assert messages[:2] == (Prompt("Where is this?", ("image-1",)), Prompt("Look at the plates."))


def test_a_conversation_is_made_to_fit_by_leaving_out_the_oldest_results() -> None:
    found = recorded()
    whole = seen(Context("whole", tokens=100_000), found)
    assert whole.messages == seen(Context("whole"), found).messages
    tight = seen(Context("whole", tokens=1500), found).messages
    assert results(tight)[0] == "[… 5,000 characters left out …]"
    assert shown_images(tight)[-1] == "image-4"
    assert [type(message) for message in tight] == [type(message) for message in whole.messages]


def test_what_is_sent_grows_with_the_run_and_no_faster() -> None:
    """A conversation of 400 turns is made in a fraction of a second, so building one a turn stays cheap."""
    import time

    found = recorded()
    said = [event for event in found.events if isinstance(event.body, Said)][:1]
    events = (*found.events[:2], *(said * 2000))
    began = time.process_time()
    seen(Context("trimmed", images=4, result_tokens=100), replace(found, events=events))
    assert time.process_time() - began < 5
