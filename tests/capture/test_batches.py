"""What a model is called with is laid out as the model looks for it."""

import pytest
from test_dtypes import run

pytestmark = pytest.mark.oracle

# Of a text that begins with two images of 2 x 3 tokens: an image's first place is behind that of the token that opens it, and what follows comes behind the last.
OPENED = "(0, 0) (1, 1) (1, 2) (1, 3) (2, 1) (2, 2) (2, 3) (4, 4) (5, 5) (6, 6) (6, 7) (6, 8) (7, 6) (7, 7)"


@pytest.mark.slow("batches of Qwen Omni")
def test_the_thinker_is_trained_and_finds_each_image_between_the_tokens_that_open_and_end_it():
    done = run("thinkers.py")
    assert done.stdout.splitlines()[:2] == [f"{name}ThinkerForConditionalGeneration of {whole} {OPENED}" for name, whole in (("Qwen2_5Omni", "qwen2_5_omni"), ("Qwen3OmniMoe", "qwen3_omni_moe"))], done.stdout + done.stderr[-2000:]


def test_lengths_of_captures_follow_what_was_asked():
    done = run("lengths.py")
    rows = {line.split(" ")[0]: line.split(" ")[1:] for line in done.stdout.splitlines() if " " in line}
    lengths = {name: [tuple(map(int, point.split(":"))) for point in rows[name]] for name in ("apart", "longest", "same", "audio", "seconds", "text")}
    assert lengths["apart"][0] == (96, 61) and len({seq - target for seq, target in lengths["apart"]}) == len(lengths["apart"]), done.stderr[-2000:]
    assert lengths["longest"][0] == (96, 1024) and max(target for _, target in lengths["longest"]) == 1024
    assert {target for _, target in lengths["same"]} == {0}
    assert " ".join(rows["decoder"]) == "Model is no encoder-decoder model: leave the target length out"
    assert [lengths[name][0][0] for name in ("audio", "seconds", "text")] == [160000, 40000, 64]
