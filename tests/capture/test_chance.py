"""What a model draws by chance on the host is as it takes the most memory, and nothing of the draw is in its program."""

import numpy
import pytest
from test_dtypes import run
from tidemark.capture.chance import as_the_most


def test_chances_are_rounded_up_and_spans_lie_apart():
    with as_the_most() as asked:
        assert int(0.05 * 479 / 10 + numpy.random.rand(1).item()) == 3
        assert int(0.05 * 400 / 10 + numpy.random.rand(1).item()) == 2
        assert list(numpy.random.choice(numpy.arange(470), 3, replace=False)) == [0, 156, 312]
    assert asked == {"numpy.random.rand", "numpy.random.choice"}
    assert numpy.random.choice.__name__ == "choice" and 0 <= numpy.random.rand() < 1 and not asked - {"numpy.random.rand", "numpy.random.choice"}


@pytest.mark.oracle
def test_a_program_has_what_is_done_and_not_what_is_drawn():
    done = run("chances.py")
    assert "numpy.random.choice numpy.random.rand torch.rand" in done.stdout, done.stderr[-2000:]
    assert "torch.rand(" not in done.stdout and "__bool__" not in done.stdout
    assert "torch.Tensor.requires_grad_(%0)" in done.stdout and "found=1" in done.stdout and "call linear" in done.stdout, done.stdout
