"""What is said of two releases: on small made-up recordings."""

import gzip
import json

import changes


def step(path, events, **spec):
    with gzip.open(path, "wt") as file:
        file.write(json.dumps({"spec": spec, "card": "h200"}) + "\n" + "".join(f"{event}\n" for event in events))


def folders(tmp_path, kind):
    for name in ("old", "new"):
        (tmp_path / name / kind).mkdir(parents=True)
    return tmp_path / "old" / kind, tmp_path / "new" / kind


def told(tmp_path):
    return list(changes.kinds_of(tmp_path / "old", tmp_path / "new"))


def test_layers_of_one_kind_are_one_group():
    assert changes.layer_of("model.layers.13.mlp.experts.2") == "model.layers.N.mlp.experts.N"
    assert changes.layer_of("transformer.h2") == "transformer.h2"


def test_steps_are_grouped_by_where_they_part(tmp_path):
    old, new = folders(tmp_path, "steps")
    named = tmp_path / "new/steps.named"
    named.mkdir()
    for name, layer, optimizer in (("a", 0, "adamw"), ("b", 3, "adamw"), ("c", 1, "sgd"), ("same", 0, "sgd")):
        after = ["+512", "+1024" if name != "same" else "+2048", "-512"]
        step(old / f"{name}.txt.gz", ["+512", "+2048", "-512"], optimizer=optimizer)
        step(new / f"{name}.txt.gz", after, optimizer=optimizer)
        step(named / f"{name}.txt.gz", [f"{event} aten::mm model.layers.{layer}.mlp" for event in after], optimizer=optimizer)
    lines = told(tmp_path)
    assert lines[:2] == ["steps:", "3 of 4 steps differ"]
    assert "  3  aten::mm in model.layers.N.mlp: event 1: +1024 where it was +2048 (a)" in lines
    assert "  2 of 2  adamw (auto): event 1: +1024 where it was +2048 (a)" in lines
    assert "  1 of 2  sgd (auto): event 1: +1024 where it was +2048 (c)" in lines
    assert "  3 of 4  one GPU: event 1: +1024 where it was +2048 (a)" in lines


def test_of_a_step_all_places_are_told_that_differ(tmp_path):
    old, new = folders(tmp_path, "steps")
    named = tmp_path / "new/steps.named"
    named.mkdir()
    step(old / "a.txt.gz", ["+1", "+2", "+3", "+4", "+5"])
    step(new / "a.txt.gz", ["+1", "+9", "+3", "+5", "+6"])
    step(named / "a.txt.gz", ["+1 aten::a m", "+9 aten::b m", "+3 aten::c m", "+5 aten::d m", "+6 aten::e m"])
    lines = told(tmp_path)
    assert {"  1  aten::b in m", "  1  aten::d in m", "  1  aten::e in m"} <= set(lines)
    assert not any(line.startswith("  1  aten::a") or line.startswith("  1  aten::c") for line in lines)


def test_a_step_that_ends_sooner_differs_at_the_end(tmp_path):
    old, new = folders(tmp_path, "steps")
    step(old / "a.txt.gz", ["+512", "-512"], parallel="zero2")
    step(new / "a.txt.gz", ["+512"], parallel="zero2")
    assert "  1 of 1  zero2: event 1: the end where it was -512 (a)" in told(tmp_path)


def test_strategies_are_named_together():
    assert changes.strategy_of({"parallel": "fsdp2", "tp": {}, "pp": {}}) == "fsdp2+tp+pp"
    assert changes.strategy_of({"parallel": "none"}) == "one GPU"


def test_operations_are_told_with_what_they_cite(tmp_path, monkeypatch):
    old, new = folders(tmp_path, "ops")
    call = {"card": "h200", "in": ["bfloat16 4x4"], "y": None, "drop": []}
    (old / "mm.json").write_text(json.dumps([{**call, "forward": [512, -512]}, {**call, "in": ["float32 4x4"], "forward": [1]}]))
    (new / "mm.json").write_text(json.dumps([{**call, "forward": [512, 8, -512]}, {**call, "in": ["float32 4x4"], "forward": [1]}]))
    monkeypatch.setattr(changes, "citations_of_operations", lambda _: {"mm": "aten::mm; cuda/Blas.cpp"})
    assert told(tmp_path)[1:] == ["1 of 2 calls differ, of 1 of 1 operations", '  1 of 2  mm (aten::mm; cuda/Blas.cpp): forward, event 1: 8 where it was -512, in {"card": "h200", "in": ["bfloat16 4x4"]}']


def test_the_release_itself_is_no_difference(tmp_path):
    old, new = folders(tmp_path, "allocator")
    for folder, torch in ((old, "2.11.0"), (new, "2.15.0")):
        for name, size in (("same", 1), ("other", 1 if folder is old else 2)):
            with gzip.open(folder / f"{name}.txt.gz", "wt") as file:
                file.write(f"torch {torch}\nsettings expandable_segments:True\nevents\na 0 {size}\n")
    assert told(tmp_path)[1:] == ["1 of 2 recordings differ", "  1 of 2  expandable_segments:True: line 4: a 0 2 where it was a 0 1 (other)"]


def test_cited_files_are_found_in_comments_and_compared(tmp_path):
    (tmp_path / "src/train").mkdir(parents=True)
    (tmp_path / "src/train/sgd.cpp").write_text('#include "train/step.h"\n// torch/optim/sgd.py: one sum per step; see step.h\nint x;  // no file\n')
    (tmp_path / "src/train/step.h").write_text("")
    for release, text in (("old", "a\nb\n"), ("new", "a\nc\n")):
        for file in ("torch/optim/sgd.py", "torch/optim/adam.py"):
            (tmp_path / release / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / release / file).write_text(text)
    cited = changes.cited_by(tmp_path / "src")
    assert cited == {"torch/optim/sgd.py": {"src/train/sgd.cpp"}}
    assert list(changes.edited_files(cited, tmp_path / "old", tmp_path / "new")) == ["  torch/optim/sgd.py: 2 lines differ; cited by src/train/sgd.cpp"]
    (tmp_path / "new/torch/optim/sgd.py").unlink()
    assert list(changes.edited_files(cited, tmp_path / "old", tmp_path / "new")) == ["  torch/optim/sgd.py is not there any more; cited by src/train/sgd.cpp"]
