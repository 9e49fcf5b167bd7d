"""Questions about scenes: answered from what can be made out in the view, and no further."""

import json
from dataclasses import replace
from pathlib import Path

from factory_scenes import plain_picture, scene_of, without
from geosleuth.agent.methods import method
from geosleuth.lab.scenes import MadeScene, Mark, Scene
from geosleuth.lab.train.samples import Question, generate_questions, open_picture, picture_size, scene_chats
from geosleuth.photo import first_view, open_photo

VIEW = (1632, 1224)


def asked(scene: Scene, marks: tuple[Mark, ...], kind: str) -> Question:
    (question,) = generate_questions(scene, marks, VIEW, [kind])
    assert question.kind == kind
    return question


def test_signs_are_read_as_far_as_they_are_legible() -> None:
    scene, marks = scene_of()
    lines = asked(scene, marks, "signs").reply.split("\n")
    # The town's sign is too small in a view of half the width.
    assert lines == ["Bäckerei Lindemann", "Tel. 02921 34567", "Iberia", "Madrid"]
    assert asked(scene, marks, "script").reply == "latin."
    far = generate_questions(scene, marks, (160, 120), ["signs"])
    assert far[0].reply == "Nothing can be read in this picture."


def test_a_country_that_nothing_legible_tells_is_not_named() -> None:
    scene, marks = scene_of()
    assert asked(scene, marks, "country").reply.startswith("Germany.")
    bare = without(scene, "a", "b")
    reply = asked(bare, tuple(mark for mark in marks if mark.clue not in "ab"), "country").reply
    assert "can't be told" in reply
    assert "Germany" not in reply


def test_boxes_are_those_of_the_view() -> None:
    scene, marks = scene_of()
    for number in range(1, 12):
        question = asked(replace(scene, seed=number), marks, "boxes")
        box = json.loads(question.reply)["bbox_2d"]
        texts = {'"Bäckerei Lindemann"': (210, 405, 690, 450), '"Tel. 02921 34567"': (210, 460, 500, 490)}
        found = [texts[text] for text in texts if text in question.text]
        assert not found or box == list(found[0])
    (scaled,) = generate_questions(scene, marks, VIEW, ["boxes"], box_scale="thousandths")
    assert max(json.loads(scaled.reply)["bbox_2d"]) <= 1000
    nothing = without(scene, "a", "b", "c")
    assert generate_questions(nothing, marks[-1:], VIEW, ["boxes"]) == []
    assert asked(nothing, marks[-1:], "signs").reply == "Nothing can be read in this picture."


def test_three_levels_are_read_by_the_method_that_asks_for_them() -> None:
    scene, marks = scene_of()
    question = asked(scene, marks, "levels")
    answer = method("geoagent").read_answer(question.reply)
    assert answer.address.country.conclusion == "Germany"
    assert answer.address.precise.conclusion is None
    assert "three levels" in question.text
    assert "ChainOfThought" in question.system


def test_scenes_become_chats_with_the_picture_that_a_policy_is_shown(tmp_path: Path) -> None:
    scene, marks = scene_of()
    path = tmp_path / "a.jpg"
    path.write_bytes(plain_picture(scene, marks))
    chats = list(scene_chats([MadeScene(scene, marks, path)], ["country", "signs"]))
    assert [chat.key for chat in chats] == ["hand-1 country", "hand-1 signs"]
    user, reply = chats[1].messages
    caption, image, _ = user["content"]
    view = first_view(open_photo(path).photo)
    assert caption["text"] == f"image-1 ({view.size[0]} x {view.size[1]} pixels):"
    assert picture_size(image["image"]) == open_picture(image["image"]).size == view.size
    assert "Bäckerei" in reply["content"][0]["text"]
    assert len(list(scene_chats([MadeScene(scene, marks, path)] * 3, limit=4))) == 4
