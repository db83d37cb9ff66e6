"""`tidemark predict` and `tidemark plan` as function calls, in this process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from . import core, errors, places, sharing
from . import inputs as questions
from .reports import Plan, Progress, Report


def predict(config, *, inputs=None, all_ranks=False, margin=None, offline=False, **options):
    """The memory of a training, from its model's configuration alone.

    `config` is a path (config.json, or the folder that holds it), a name on the hub, a dict, a transformers PretrainedConfig, or a module with
    one, which may be on the meta device.  `options` are the keys of docs/reference/spec.md: batch=16, seq=1024, gpu="h100-80gb",
    lora={"r": 16}; `tidemark.options()` lists them.  `inputs` is for a module without a configuration: what its forward is called with, a dict or
    a function of batch and seq that returns one.  `all_ranks` reports on every rank of many, `margin` ("p90") keeps a quantile of measured
    residuals free, `offline` asks the hub for nothing.

    May be called by any number of threads, which run at once.  A training that does not fit is a result: look at `report.fits`.  Raises
    tidemark.Error, with the words of the command, for what is wrong or not known.
    """
    if inputs is not None or questions.is_own_module(config):
        return Report.from_text(_of_own("predict", config, inputs, options, _predict_words(all_ranks, margin))[0])
    asked = questions.read(config, options, offline)
    extra = {**({"all_ranks": True} if all_ranks else {}), **({"margin": margin} if margin else {})}
    if not asked.is_elsewhere:
        try:
            return Report.from_text(core.ask("predict", {**asked.question, **extra}))
        except errors.NotCaptured:
            pass  # the command captures it, or says why not
    return Report.from_text(_by_command("predict", asked, _predict_words(all_ranks, margin))[0])


def _predict_words(all_ranks, margin):
    return [*(["--all-ranks"] if all_ranks else []), *(["--margin", margin] if margin else [])]


def _of_own(command, module, given, options, words):
    """What the command answers of a module without a configuration, which is captured first."""
    from . import own_modules

    if not questions.is_own_module(module):
        raise errors.Error("usage", "what the forward takes is known from the configuration", "inputs", "leave it out, or give a module without a configuration")
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        program = Path(folder, f"{type(module).__name__}.program")
        asked = questions.read_own(module, options)
        text, names = own_modules.program_of(module, given, asked.spec)
        program.write_text(text)
        asked.spec.setdefault("labels", "labels" in names)
        return _by_command(command, asked, words, ["--program", str(program)])


def plan(config, *, inputs=None, offline=False, ray=False, progress=None, **options):
    """Which configuration to run: `tidemark plan`.

    `config`, `inputs` and `options` are as for `predict`, and options of the plan besides: goal="least_memory", largest="batch",
    checkpointing_under="24GiB", cheapest={"l40s": 0.9, "h100-80gbx8": 2.5}, nodes, samples, fix=["checkpointing"], allow=["lora=8|64"],
    margin="p90", answers=3.

    With `ray` the search is shared out to the nodes of a Ray cluster, on which this package is installed too: the one that `ray.init` has
    joined, else the one that it finds, or starts.  The answers are the same.

    `progress` is called with how far the search has come, a Progress, at most twenty times a second, by one thread at a time; what it raises ends the
    search.  It is not called while Ray searches, or a model is captured.
    """
    ours = core.keys_of("plan")
    wishes = {key: questions._plain(value) for key, value in options.items() if key in ours and value is not None}
    options = {key: value for key, value in options.items() if key not in ours}
    if inputs is not None or questions.is_own_module(config):
        if ray:
            sharing.refuse_elsewhere()
        with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
            text, printed = _of_own("plan", config, inputs, options, _plan_words(wishes, folder))
        return Plan(json.loads(text), printed, text)
    asked = questions.read(config, options, offline)
    if ray:
        sharing.check(asked, wishes)
    if not asked.is_elsewhere:
        try:
            question = {**asked.question, "plan": wishes, "with_text": True}
            answer = json.loads(core.ask("plan", sharing.over_ray(question) if ray else question, progress and (lambda now: progress(Progress(**now)))))
            if ray or not answer["wants_cudnn"]:
                return Plan(json.loads(answer["json"]), answer["text"], answer["json"])
        except errors.NotCaptured:
            if ray:
                raise
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        text, printed = _by_command("plan", asked, _plan_words(wishes, folder))
    return Plan(json.loads(text), printed, text)


def options():
    """The keyword arguments of `predict` that say how is trained: {name: JSON Schema}, with a description and the default of each."""
    return core.keys_of("spec")


def gpus():
    """The cards that `gpu` takes: [{"key", "name", "total_bytes"}]."""
    return core.described()["cards"]


def models(bundled=False):
    """The families that are predicted without PyTorch, [{"model_type", "heads"}]; or, `bundled`, the names on the hub that are answered without
    a network, [{"name", "date", "source"}]."""
    words = [places.launcher(), "models", "--json", *(["--bundled"] if bundled else [])]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise error_in(done, {})
    return json.loads(done.stdout)


def _plan_words(wishes, folder):
    words = []
    for key, value in wishes.items():
        if key == "cheapest":
            prices = Path(folder, "prices.json")
            prices.write_text(json.dumps({name.rpartition("x")[0] if name.rpartition("x")[2].isdigit() and "x" in name else name: price for name, price in value.items()}))
            words += ["--cheapest", ",".join(value), "--prices", str(prices)]
        else:
            words += [f"--{key.replace('_', '-')}", ",".join(map(str, value)) if isinstance(value, list) else str(value)]
    return words


def _by_command(command, asked, words, model=None):
    """The JSON that the command writes, and what it prints: of what is looked up, or captured, outside this process."""
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        spec, answer = Path(folder, "spec.json"), Path(folder, "answer.json")
        keys = {key: value for key, value in asked.spec.items() if key not in ("model", *asked.question["sources"])}
        if os.path.exists(str(keys.get("gpu", ""))):  # in a spec it is meant from the spec's folder
            keys["gpu"] = os.path.abspath(keys["gpu"])
        spec.write_text(json.dumps(keys))
        model = model or [asked.model]
        if model == [None]:
            model = [str(Path(folder, "config.json"))]
            config = asked.question.get("config")
            Path(model[0]).write_text(config["text"] if config else json.dumps(asked.spec.get("model")))
        given = [places.launcher(), command, *model, "--spec", str(spec), "--json", str(answer), *words, *(["--offline"] if asked.offline else [])]
        done = subprocess.run(given, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment())
        if answer.exists() and answer.stat().st_size:
            return answer.read_text(), done.stdout
        raise error_in(done, {f"{spec}: ": "", f"{model[-1]}: ": f"{asked.model or 'config'}: ", folder: "config"})


_CODES = {2: "bad_value", 3: "unsupported"}


def error_in(done, names):
    said = done.stderr.rpartition("tidemark: ")[2].rstrip("\n") or f"the command ended with exit code {done.returncode}"
    for ours, theirs in names.items():
        said = said.replace(ours, theirs)
    message, _, hint = said.partition("\n")
    return errors.Error(_CODES.get(done.returncode, "bug"), message, hint=hint.strip())


def environment():
    """Active for the command is the environment that this interpreter is of."""
    environment = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "CONDA_PREFIX")}
    if sys.prefix != sys.base_prefix:
        environment["VIRTUAL_ENV"] = sys.prefix
    else:
        environment["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), environment.get("PATH", "")])
    return environment
