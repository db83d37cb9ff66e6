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
