"""What a policy gets to see of a run."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from geosleuth.agent import Budget, Context, Prompted, Said, Trajectory, build_conversation, run
from geosleuth.agent.conversation import cut, split_stretches
from geosleuth.agent.replay import replay, same_events
from geosleuth.agent.setup import AgentSetup
from geosleuth.models import Conversation, Message, Observed, Prompt, Step
from geosleuth.tools import Case, Output, ToolCall, Toolset, tool
from scripted import ScriptedPolicy, answers, call, calls, says
from small_runs import ALL_TOOLS, small_case, small_method, small_photo


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
    return build_conversation(
        events, context=context, tools=ALL_TOOLS, picture=small_case().album.__getitem__, **options
    )


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


def look(lat: float) -> ToolCall:
    return call("draw_map", lat=lat, lon=0.0)


def crop(width: int, **options: Any) -> ToolCall:
    return call("image_zoom_in_tool", bbox_2d=[0, 0, width, 50], **options)


def played(script: Sequence[Step], context: Context, **changes: Any) -> tuple[ScriptedPolicy, Trajectory]:
    """A run of these steps, then an answer."""
    policy = ScriptedPolicy([*script, answers(1, 2)])
    method = small_method(context=context, budget=Budget(turns=len(script) + 3), **changes)
    setup = AgentSetup(method=method, policy=policy, toolset=Toolset([*ALL_TOOLS, tell]))
    return policy, asyncio.run(run(small_case(), setup))


def is_continued(asked: Sequence[Conversation]) -> list[bool]:
    """Whether each request but the first begins with the one before, as it was."""
    return [
        after.messages[: len(before.messages)] == before.messages and after.system == before.system
        for before, after in pairwise(asked)
    ]


def test_four_maps_of_one_turn_are_all_seen() -> None:
    maps = [look(lat) for lat in range(4)]
    policy, _ = played([calls(crop(60), crop(70, rotate=90)), calls(*maps)], Context("trimmed", images=4))
    assert shown_images(policy.seen[1].messages) == ["image-2", "image-3"]
    assert shown_images(policy.seen[2].messages) == ["image-4", "image-5", "image-6", "image-7"]
    assert results(policy.seen[2].messages)[-1].endswith(
        "[No longer shown, to make room: image-2, image-3. To see one again, repeat its call.]"
    )


def test_old_pictures_make_way_several_at_once_whatever_they_show() -> None:
    turned = [crop(50 + 10 * number, rotate=90 * (number % 2), contrast=number % 3 == 0) for number in range(8)]
    policy, _ = played([calls(one) for one in turned], Context("trimmed", images=4))
    assert [len(shown_images(asked.messages)) for asked in policy.seen] == [0, 1, 2, 3, 4, 2, 3, 4, 2]
    assert is_continued(policy.seen) == [True, True, True, True, False, True, True, False]
    assert shown_images(policy.seen[5].messages) == ["image-5", "image-6"]
    assert policy.seen[5].messages[0] == Prompt("Where is this?", ("image-1",))
    assert "not shown here any more: image-2" in results(policy.seen[5].messages)[0]


def test_a_call_whose_picture_made_way_can_be_made_again() -> None:
    script = [calls(look(1)), calls(look(1), look(2)), calls(look(3)), calls(look(1), look(3))]
    policy, found = played(script, Context("trimmed", images=2))
    assert [one.failure for one in found.observations] == [None, "repeated", None, None, None, "repeated"]
    assert shown_images(policy.seen[-1].messages) == ["image-4", "image-5"]


def test_more_pictures_than_fit_in_a_turn_are_told_and_can_be_asked_for_again() -> None:
    script = [calls(look(1), look(2), look(3)), calls(look(3))]
    policy, found = played(script, Context("trimmed", images=2))
    assert [one.failure for one in found.observations] == [None, None, "no_room", None]
    assert "make it again in the next turn" in results(policy.seen[1].messages)[2]
    assert shown_images(policy.seen[1].messages) == ["image-2", "image-3"]
    assert shown_images(policy.seen[2].messages) == ["image-4"]
    assert same_events(found, asyncio.run(replay(found, method=small_method(context=Context("trimmed", images=2)))))


@tool("draw_maps")
async def draw_maps(case: Case, number: int) -> Output:  # noqa: ARG001
    """Draw several maps.

    Args:
        number: how many.
    """
    return Output(f"{number} maps.", images=tuple(small_photo(one) for one in range(number)))


_CALLS = st.one_of(
    st.integers(0, 9).map(look),
    st.tuples(st.integers(50, 59), st.sampled_from([0, 90])).map(lambda drawn: crop(drawn[0], rotate=drawn[1])),
    st.integers(1, 4).map(lambda number: call("draw_maps", number=number)),
    st.integers(1, 20).map(lambda number: call("tell", characters=100 * number)),
)


@given(
    st.lists(st.lists(_CALLS, max_size=5), min_size=1, max_size=8),
    st.integers(1, 5),
    st.sampled_from([None, 500, 2000]),
)
def test_every_picture_that_is_named_was_shown(turns: list[list[ToolCall]], images: int, tokens: int | None) -> None:
    """In at least one request; none shows more than fit, and what is not dropped is never changed."""
    context = Context("trimmed", images=images, tokens=tokens, result_tokens=200)
    policy = ScriptedPolicy([*(calls(*turn) if turn else says("Hm.") for turn in turns), answers(1, 2)])
    method = small_method(context=context, budget=Budget(turns=12))
    toolset = Toolset([*ALL_TOOLS, tell, draw_maps])
    found = asyncio.run(run(small_case(), AgentSetup(method=method, policy=policy, toolset=toolset)))
    asked = [set(shown_images(one.messages)) for one in policy.seen]
    # What the last turn of a run that broke off brought was never asked about.
    answered = found.steps[-1].text and not found.steps[-1].calls
    named = {image.handle for one in found.observations for image in one.images}
    assert not answered or named == set().union(*asked)
    assert all(len(one) <= images for one in asked)
    dropped = [
        any("No longer shown" in text or "left out; not" in text for text in results(one.messages[-1:]))
        or sum("left out" in text for text in results(one.messages))
        > sum("left out" in text for text in results(before.messages))
        for before, one in pairwise(policy.seen)
    ]
    assert all(kept or gone for kept, gone in zip(is_continued(policy.seen), dropped, strict=True))
    # Training plays the same: every reply after just what was shown to it.
    learned = [
        (messages[:at], messages[at])
        for messages, history in split_stretches(found.events, context)
        for at in [at for at, one in enumerate(messages) if isinstance(one, Step)][history:]
    ]
    assert [before for before, _ in learned] == [one.messages for one in policy.seen]
    assert [reply for _, reply in learned] == list(found.steps)


def test_pictures_that_are_gone_are_named_and_not_shown() -> None:
    messages = seen(Context("trimmed", images=3), missing={"image-4"}).messages
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
    messages = build_conversation(
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
