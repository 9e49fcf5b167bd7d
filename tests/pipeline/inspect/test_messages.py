"""Conversations as Inspect's messages and back: calls with their results, thoughts, replies that come back."""

import pytest

pytest.importorskip("inspect_ai")

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ContentReasoning,
    ContentText,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.tool import ToolCall as InspectCall

from geosleuth.lab.inspect.policy import convert_output, convert_usage, memory_key, native_messages
from geosleuth.models import Conversation, Message, Observed, Prompt, Step, Wire
from geosleuth.photo import View
from geosleuth.tools import Observation, ToolCall


def no_picture(handle: str) -> View:
    raise KeyError(handle)


def conversation(*messages: Message, wire: Wire = "native") -> Conversation:
    return Conversation("be brief", messages, (), no_picture, wire)


def native(*messages: Message, known: ChatMessageAssistant | None = None) -> list[ChatMessage]:
    return native_messages(conversation(*messages), lambda _: pytest.fail("there is no picture"), lambda _: known)


def replied(message: ChatMessageAssistant, stop: str = "stop") -> ModelOutput:
    return ModelOutput(
        model="m", choices=[ChatCompletionChoice.model_validate({"message": message, "stop_reason": stop})]
    )


def test_every_call_has_its_result_and_every_result_its_call() -> None:
    step = Step("look", calls=(ToolCall("a", "zoom", {"x": 1}), ToolCall("b", "zoom", "{broken")))
    observed = Observed((Observation("a", "zoom", "seen"), Observation("gone", "nearby", "shut", failure="service")))
    messages = native(Prompt("where?"), step, observed, Prompt("go on"))
    assert [message.role for message in messages] == ["system", "user", "assistant", "tool", "tool", "user", "user"]
    results = [message for message in messages if isinstance(message, ChatMessageTool)]
    assert [(one.tool_call_id, one.text) for one in results] == [("a", "seen"), ("b", "This call was not carried out.")]
    assert "Result of nearby: Error: shut" in messages[5].text
    assert isinstance(messages[2], ChatMessageAssistant)
    assert messages[2].tool_calls is not None
    assert messages[2].tool_calls[1].arguments == {"unreadable": "{broken"}


def test_a_failed_call_is_an_error_of_the_tool() -> None:
    step = Step(calls=(ToolCall("a", "zoom", {}),))
    messages = native(step, Observed((Observation("a", "zoom", "no such image", failure="refused"),)))
    assert isinstance(messages[-1], ChatMessageTool)
    assert messages[-1].error is not None
    assert messages[-1].error.message == "no such image"


def test_a_models_own_message_comes_back_with_its_signature_and_our_ids() -> None:
    said = ChatMessageAssistant(
        content=[ContentReasoning(reasoning="hm", signature="signed"), ContentText(text="look")],
        tool_calls=[InspectCall(id="theirs", function="zoom", arguments={})],
    )
    step = convert_output(replied(said, "tool_calls"), conversation())
    assert (step.text, step.thinking, step.finish) == ("look", "hm", "calls")
    ours = Step(step.text, step.thinking, (ToolCall("call-7", "zoom", {}),))
    assert memory_key(ours) == memory_key(step)
    sent = native(ours, known=said)[1]
    assert isinstance(sent, ChatMessageAssistant)
    assert isinstance(sent.content[0], ContentReasoning)
    assert sent.content[0].signature == "signed"
    assert [call.id for call in sent.tool_calls or ()] == ["call-7"]


def test_ids_that_were_used_before_are_replaced() -> None:
    said = ChatMessageAssistant(content="", tool_calls=[InspectCall(id="0", function="zoom", arguments={})])
    before = Step(calls=(ToolCall("0", "zoom", {}),))
    [call] = convert_output(replied(said), conversation(before)).calls
    assert call.id == "call-1"


def test_arguments_that_can_not_be_read_are_handed_on_as_text() -> None:
    said = ChatMessageAssistant(
        content="", tool_calls=[InspectCall(id="a", function="zoom", arguments={}, parse_error="no JSON: {x")]
    )
    [call] = convert_output(replied(said), conversation()).calls
    assert call.arguments == "no JSON: {x"


def test_redacted_thoughts_are_told_by_their_summary() -> None:
    secret = ContentReasoning(reasoning="ciphertext", summary="I compared signs.", redacted=True)
    said = ChatMessageAssistant(content=[secret, ContentText(text="Rome")])
    assert convert_output(replied(said), conversation()).thinking == "I compared signs."


@pytest.mark.parametrize(
    ("stop", "finish"), [("max_tokens", "length"), ("content_filter", "filtered"), ("stop", "stop")]
)
def test_why_a_reply_ended(stop: str, finish: str) -> None:
    assert convert_output(replied(ChatMessageAssistant(content="x"), stop), conversation()).finish == finish


def test_a_reply_without_a_message_is_no_crash() -> None:
    assert convert_output(ModelOutput(model="m", choices=[], error="held back"), conversation()).finish == "filtered"


def test_tokens_from_a_cache_are_tokens_too() -> None:
    output = replied(ChatMessageAssistant(content="x"))
    assert convert_usage(output).cost_usd is None
    output.usage = ModelUsage(
        input_tokens=10, output_tokens=5, input_tokens_cache_read=100, input_tokens_cache_write=7, total_cost=0.5
    )
    used = convert_usage(output)
    assert (used.input_tokens, used.output_tokens, used.cached_tokens, used.cost_usd) == (117, 5, 100, 0.5)
