"""Which keys the code of a model asks for, by the names that files have them under."""

import pytest
from test_dtypes import run

pytestmark = pytest.mark.oracle


def test_what_is_taken_of_a_key_is_said_with_the_names_of_fields():
    done = run("heads_of_other_names.py")
    share = "vision_config.hidden_size//vision_config.num_heads"
    assert done.stdout.split() == [share, share, "vision_config.num_heads"], done.stderr[-2000:]
