"""What runs inside the user's process, without torch: names that are missing, faults of ours, and whose frames a traceback shows."""

import signal
import sys
import traceback
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
from tidemark.inside import door, losses, relied_on, tracebacks


@pytest.fixture(autouse=True)
def nothing_lost_yet(monkeypatch):
    monkeypatch.setattr(losses, "_lost", {})


@pytest.fixture
def library(monkeypatch):
    """A library `lib` 9.1 with one private name, and a feature that relies on it."""
    module = types.ModuleType("lib.part")
    module.Kind = type("Kind", (), {"_private": 1})
    root = types.ModuleType("lib")
    root.__version__ = "9.1"
    monkeypatch.setitem(sys.modules, "lib", root)
    monkeypatch.setitem(sys.modules, "lib.part", module)
    monkeypatch.setitem(relied_on.FEATURES, "it", relied_on.Feature(("lib.part:Kind._private",), "lib 1 to 9", "it is not done"))
    return module


def lost():
    return [(row["what"], row["count"]) for row in losses.rows()]


def test_a_feature_whose_names_are_there(library):
    done = []
    assert relied_on.enable("it", lambda: done.append(1)) and done == [1] and lost() == []


def test_a_name_that_is_missing_costs_its_feature(library):
    del library.Kind._private
    assert not relied_on.enable("it", lambda: pytest.fail("it was begun"))
    assert lost() == [("it is not done (lib 9.1 has no lib.part.Kind._private, which lib 1 to 9 have)", 1)]


def test_a_feature_that_fails_is_said(library):
    assert not relied_on.enable("it", lambda: [].missing)
    [(what, count)] = lost()
    assert what.startswith("it is not done (AttributeError: 'list' object has no attribute 'missing' (") and count == 1


def test_every_feature_says_what_it_costs_and_where_it_holds():
    for name, feature in relied_on.FEATURES.items():
        assert feature.names and all(one.count(":") == 1 for one in feature.names), name
        assert " to " in feature.holds and feature.without, name


def test_a_fault_of_ours_is_not_theirs():
    @losses.guarded("nothing is named")
    def fails(tensor):
        return tensor.buffers()

    holder = types.SimpleNamespace(buffers=[])
    assert fails(holder) is None and fails(holder) is None
    [(what, count)] = lost()
    assert what.startswith("nothing is named (Tidemark's own fault: TypeError: 'list' object is not callable (") and count == 2
    assert sys.getrefcount(holder) == 2  # no traceback keeps it

    @losses.guarded("nothing is named")
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()


def test_a_fault_below_a_function_of_ours_names_its_line():
    def fails():
        raise ValueError("in a library")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(traceback, "_walk_tb_with_full_positions", tracebacks._leaving_us_out(traceback._walk_tb_with_full_positions))
        losses.guarded("nothing")(fails)()
    [(what, _)] = lost()
    assert what == f"nothing (Tidemark's own fault: ValueError: in a library (losses.py:{_line_of('return function(*args)')}))"


def _line_of(code):
    lines = Path(losses.__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.strip() == code)


def test_a_dead_worker_in_our_function_is_the_programs(monkeypatch):
    def raises(number, frame):
        raise RuntimeError("DataLoader worker is killed")

    handling = types.ModuleType("signal_handling")
    handling._set_SIGCHLD_handler = lambda: signal.signal(signal.SIGCHLD, raises)
    monkeypatch.setitem(sys.modules, "torch.utils.data._utils.signal_handling", handling)
    monkeypatch.setattr(traceback, "walk_tb", tracebacks._leaving_us_out(traceback.walk_tb))

    def prints():
        signal.raise_signal(signal.SIGCHLD)
        return "printed"

    tracebacks._silence_dead_workers_in(prints)
    before = signal.getsignal(signal.SIGCHLD)
    try:
        handling._set_SIGCHLD_handler()
        with pytest.raises(RuntimeError, match="is killed"):
            losses.guarded("nothing is named")(lambda: signal.raise_signal(signal.SIGCHLD))()
        assert prints() == "printed" and lost() == []
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_parts_that_are_not_there_are_silent(tmp_path):
    (tmp_path / "events.without").write_text("no timeline\nx.cpp does not compile: no y\n")
    library = door._Library(str(tmp_path))
    assert library.present == set()
    assert library.tidemark_event_count() == 0 and library.tidemark_assumptions() == b"" and library.tidemark_set_phase(1) is None
    assert ("no timeline (x.cpp does not compile: no y)", 1) in lost()
    assert not any("blame" in what for what, _ in lost())  # its work would have gone into the events


def ours(code):
    """A function whose frame is one of ours."""
    namespace = {}
    exec(compile(code, str(ROOT / "python/tidemark/inside/modules.py"), "exec"), namespace)
    return namespace["call"]


def lines_of(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        return [Path(entry.filename).name for entry in traceback.extract_tb(tracebacks.without_our_frames(error.__traceback__))]


def test_our_frames_are_left_out_of_what_others_raise():
    def theirs():
        raise ValueError

    assert lines_of(ours("def call(theirs):\n    theirs()"), theirs) == ["test_losses.py", "test_losses.py"]


def test_our_frames_stay_in_what_we_raise():
    call = ours("def call():\n    [].missing")

    def theirs():
        call()

    assert lines_of(theirs) == ["test_losses.py", "test_losses.py", "modules.py"]
