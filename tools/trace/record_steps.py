#!/usr/bin/env python3
"""Records training steps on the virtual GPU: the recordings of tests/golden/steps.

usage: record_steps.py --tidemark BINARY --python PYTHON --out FOLDER [--only NAME ...] [--kinds KIND ...] [--late] [--missing] [--named FOLDER]

PYTHON has torch, transformers and peft, DeepSpeed for the cases of ZeRO, and Colossal-AI for those of Gemini (gemini.py).  Each case (step_cases.py) is a spec of `tidemark predict`, trained by real PyTorch in a
process of its own.  Work on other streams has completed at once: of the extremes of `--event-order`, the one that predictions
follow.  OUT/NAME.txt.gz begins with the spec and the versions, one JSON object; then one line per allocation and free:
"+bytes" and "-bytes", as the allocator rounds them.  With --late it is the other extreme, work on other streams completes only
when the program waits for it (tests/golden/late): there are also lines "=bytes", where memory that waited is free again, and bytes are
those that were asked for.  With --named, FOLDER gets the same lines whole, with the operation and the module that each belongs to; with
--missing, what OUT has is not recorded again.
"""

import argparse
import contextlib
import gc
import gzip
import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import traceback
from importlib import metadata

import trl_loops
from adapters import with_adapters

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
AUTO_OF_HEAD = {"sequence_classification": "AutoModelForSequenceClassification"}
KINDS = ("one", "several", "gemini")
DTYPES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}


def build(spec, device="cuda"):
    """The model of the spec on the device, with frozen weights, adapters and checkpointing."""
    import torch
    import transformers
    from device_map import loaded_by_device_map, loads_by_device_map
    from quantization import prepare, quantize
    from transformers.initialization import no_init_weights
    from zero_training import is_made_in_parts, made_in_parts

    config = transformers.AutoConfig.for_model(**spec["model"])
    how = {"attn_implementation": spec.get("attn"), **experts_of(spec)}
    if is_made_in_parts(spec):
        model = made_in_parts(spec, auto_of(spec), config, how)
    elif loads_by_device_map(spec):
        model = loaded_by_device_map(spec, auto_of(spec), config, how)
    else:
        torch.set_default_dtype(getattr(torch, DTYPES[spec.get("dtype", "bf16")]))
        apart = has_experts_apart(spec)
        with no_init_weights(), torch.device("meta") if apart else contextlib.nullcontext():
            model = auto_of(spec).from_config(config, **how)
        torch.set_default_dtype(torch.float32)
        if apart:
            with_experts_apart(model, spec)
        model.tie_weights()
        if "quantization" in spec:
            quantize(model, spec)
        if not apart and spec.get("load", "to") == "to":
            model.to(device)
    for name, parameter in model.named_parameters():
        train = not spec.get("train_only") or any(text in name for text in spec["train_only"])
        if any(text in name for text in spec.get("freeze", [])):
            train = False
        parameter.requires_grad_(train and parameter.is_floating_point())
    if spec.get("quantization", {}).get("prepare"):
        prepare(model)
    if trl_loops.module_of(spec):
        return model.train()
    model = with_adapters(model.train(), spec)
    if spec.get("load") == "adapted":
        model.to(device)
    if spec.get("input_require_grads"):
        model.enable_input_require_grads()
    return checkpointed(model, spec)


def auto_of(spec):
    import transformers

    name = AUTO_OF_HEAD[spec["head"]] if "head" in spec else "AutoModelForImageTextToText" if "vision_config" in spec["model"] else "AutoModelForCausalLM"
    return getattr(transformers, name)


def experts_of(spec):
    return {"experts_implementation": spec["experts_implementation"]} if "experts_implementation" in spec else {}


def has_experts_apart(spec):
    return spec.get("parallel") == "ep" and spec["gpus"] > 1


def experts_shared_by(ranks):
    """Since transformers 5.21 experts have a size of their own, and what is between them is split, too."""
    from transformers.distributed import DistributedConfig

    if hasattr(DistributedConfig, "ep_size"):
        return DistributedConfig(tp_size=ranks, ep_size=ranks)
    return DistributedConfig(tp_size=ranks, enable_expert_parallel=True)


def with_experts_apart(model, spec):
    """transformers' expert parallelism, as from_pretrained(distributed_config=…) applies it: on the meta device, before there is memory."""
    import torch

    torch.distributed.init_process_group("nccl", rank=spec.get("rank", 0), world_size=spec["gpus"], store=None if "RANK" in os.environ else torch.distributed.HashStore())
    config, _, mesh = type(model).prepare_distribute_model(experts_shared_by(spec["gpus"]))
    type(model).maybe_distribute_model(model, config, mesh)
    if model.config.tie_word_embeddings:
        model.get_output_embeddings().weight = None
    model.to_empty(device="cuda")


def checkpointed(model, spec):
    kind = spec.get("checkpointing", "none")
    use_cache = spec.get("use_cache", "auto")
    for config in (model.config, getattr(model.config, "text_config", model.config)):
        config.use_cache = kind == "none" if use_cache == "auto" else use_cache == "true"
    if kind == "none":
        return model
    from chosen_checkpoints import choose_layers, how_of

    every = spec.get("checkpoint_every", 1)
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=how_of(spec), **({"every_n_layers": every} if every > 1 else {}))  # which transformers 4 does not take
    choose_layers(model, spec)
    return model


def wrapped(model, spec):
    """By the strategies for many GPUs."""
    if spec.get("parallel", "none") in ("none", "ep") and "tp" not in spec:
        return model
    import torch

    torch.distributed.init_process_group("nccl", rank=int(os.environ.get("RANK", 0)), world_size=spec["gpus"], store=None if "RANK" in os.environ else torch.distributed.HashStore())
    mesh = mesh_of(spec) if "tp" in spec or spec["parallel"] == "fsdp2" else None
    if "tp" in spec:
        from tensor_parallel import parallelized

        model = parallelized(model, spec, mesh["tp"])
        if spec.get("parallel", "none") == "ddp":
            return torch.nn.parallel.DistributedDataParallel(model, device_mesh=mesh["dp_shard"], **spec.get("ddp", {}))
    if spec.get("parallel", "none") == "none":
        return model
    if spec["parallel"] == "fsdp2":
        return fully_sharded(model, spec, mesh)
    if spec["parallel"] == "fsdp1":
        return flat_sharded(model, spec)
    return torch.nn.parallel.DistributedDataParallel(model, **{name: value for name, value in spec.get("ddp", {}).items() if name != "no_sync"})


def mesh_of(spec):
    """The ranks as torchtitan lays them (torchtitan/distributed/parallel_dims.py): pipelines, copies, shards, parts of matrices."""
    from torch.distributed.device_mesh import init_device_mesh

    degrees = {name: spec[name[:2]]["degree"] for name in ("pp", "tp") if name in spec}
    copies = {"dp_replicate": spec["fsdp2"]["data_parallel_replicate_degree"]} if "data_parallel_replicate_degree" in spec.get("fsdp2", {}) else {}
    rest = spec["gpus"]
    for degree in (*degrees.values(), *copies.values()):
        rest //= degree
    data = {**copies, "dp_shard": rest} if spec.get("parallel", "none") != "none" else {}
    sizes = {name: size for name, size in {"pp": degrees.get("pp"), **data, "tp": degrees.get("tp")}.items() if size}
    return init_device_mesh("cuda", tuple(sizes.values()), mesh_dim_names=tuple(sizes))


def fully_sharded(model, spec, mesh):
    """fully_shard of every layer of every nn.ModuleList, then of the root, as torchtitan and accelerate do."""
    import torch
    from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard

    asked = spec.get("fsdp2", {})
    reshard = {"auto": None, "true": True, "false": False}.get(asked.get("reshard_after_forward", "auto"), asked.get("reshard_after_forward"))
    of_root = reshard = reshard if isinstance(reshard, (bool, type(None))) else int(reshard)
    if "pp" in spec and reshard is None:  # torchtitan's policy: a gather for every micro-batch would cost too much
        reshard = False
    types = {name: getattr(torch, DTYPES[asked[name]]) for name in ("param_dtype", "reduce_dtype") if name in asked}
    shared = ("dp_replicate", "dp_shard") if "data_parallel_replicate_degree" in asked else "dp_shard"
    settings = {"mesh": mesh[shared], "mp_policy": MixedPrecisionPolicy(**types)}
    if asked.get("offload_policy") == "cpu":
        settings["offload_policy"] = CPUOffloadPolicy()
    for layer in layers_to_wrap(model, asked):
        fully_shard(layer, **settings, reshard_after_forward=reshard)
    return fully_shard(model, **settings, reshard_after_forward=of_root)


def layers_to_wrap(model, asked):
    """Of every nn.ModuleList, or of the classes that are named."""
    import torch

    if classes := asked.get("transformer_layer_cls_to_wrap"):
        return [module for module in model.modules() if type(module).__name__ in classes]
    return [layer for module in model.modules() if isinstance(module, torch.nn.ModuleList) for layer in module]


def flat_sharded(model, spec):
    """FullyShardedDataParallel of every layer of every nn.ModuleList, then of the root."""
    import torch
    from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision, ShardingStrategy
    from torch.distributed.fsdp.wrap import ModuleWrapPolicy

    asked = spec.get("fsdp1", {})
    types = {name: getattr(torch, DTYPES[asked[name]]) for name in ("param_dtype", "reduce_dtype") if name in asked}
    layers = {type(layer) for layer in layers_to_wrap(model, asked)}
    nodes = {}
    if "HYBRID" in asked.get("sharding_strategy", ""):
        nodes["device_mesh"] = torch.distributed.device_mesh.init_device_mesh("cuda", (spec["gpus"] // spec["gpus_per_node"], spec["gpus_per_node"]), mesh_dim_names=("replicate", "shard"))
    return FullyShardedDataParallel(
        model,
        auto_wrap_policy=ModuleWrapPolicy(layers),
        mixed_precision=MixedPrecision(**types) if types else None,
        use_orig_params=True,
        **nodes,
        sharding_strategy=ShardingStrategy[asked.get("sharding_strategy", "FULL_SHARD")],
        device_id=torch.cuda.current_device(),
    )


def trained_by_pipeline(spec):
    """The loop of the documentation of torch.distributed.pipelining: every rank gives its schedule what its stages take."""
    import torch
    import torch.distributed as dist
    from one_outcome import let_threads_go
    from stages import stage_of
    from torch.distributed import pipelining

    let_threads_go()
    pp = spec["pp"]
    ranks, rank = pp["degree"], int(os.environ.get("RANK", 0))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=spec["gpus"], store=None if "RANK" in os.environ else dist.HashStore())
    group = mesh = None
    if spec["gpus"] > ranks or spec.get("parallel", "none") != "none" or "tp" in spec:
        mesh = mesh_of(spec)
        group, rank = mesh["pp"].get_group(), mesh["pp"].get_local_rank()
    model = build(spec, "cpu")
    count = ranks * pp.get("stages_per_rank", 1)
    mine = list(range(rank, count, ranks))
    modules = [stage_of(model, spec, index) for index in mine]
    if "tp" in spec:
        from tensor_parallel import parallelized

        for module in modules:
            parallelized(module.whole, spec, mesh["tp"])
    if spec.get("parallel", "none") == "ddp":
        copies = {"device_mesh": mesh["dp_shard"]} if "tp" in spec else {"process_group": mesh["dp_shard"].get_group()}
        modules = [torch.nn.parallel.DistributedDataParallel(module, **copies, **spec.get("ddp", {})) for module in modules]
    if spec.get("parallel", "none") == "fsdp2":
        modules = [fully_sharded(module, spec, mesh) for module in modules]
    stages = [pipelining.PipelineStage(module, index, count, torch.device("cuda", torch.cuda.current_device()), group=group) for module, index in zip(modules, mine)]
    kind = {"gpipe": "ScheduleGPipe", "1f1b": "Schedule1F1B", "interleaved_1f1b": "ScheduleInterleaved1F1B", "looped_bfs": "ScheduleLoopedBFS"}[pp["schedule"]]
    words, loss_function = model.config.get_text_config().vocab_size, model.loss_function
    del model
    schedule = getattr(pipelining.schedules, kind)(
        stages[0] if kind in ("ScheduleGPipe", "Schedule1F1B") else stages, pp["microbatches"], scale_grads=pp.get("scale_grads", True), loss_fn=lambda logits, labels: loss_function(logits=logits, labels=labels, vocab_size=words)
    )
    trainable = [p for module in modules for p in module.parameters() if p.requires_grad]
    optimizer = optimizer_of(spec, param_groups(trainable, spec))
    to_none, rows = spec.get("set_to_none", True), rows_of(spec)
    wanted = {"attention_mask", *(("input_ids", "pixel_values") if 0 in mine else ()), *(("labels",) if count - 1 in mine else ())}
    for _ in range(spec.get("steps", 3)):
        if spec.get("zero_grad") == "before_forward":
            optimizer.zero_grad(set_to_none=to_none)
        for _ in range(spec.get("grad_accumulation", 1)):
            batch = {name: row.to("cuda") for name, row in rows.items() if name in wanted}
            inputs = [batch.pop("input_ids")] if 0 in mine and "pixel_values" not in batch else []
            schedule.step(*inputs, target=batch.pop("labels", None), return_outputs=pp.get("return_outputs", True), **batch)
            del batch, inputs
            if spec.get("parallel") == "ddp":
                pause(trainable[0])
        if spec.get("max_grad_norm"):
            norm = torch.nn.utils.get_total_norm([p.grad for p in trainable if p.grad is not None])
            if hasattr(norm, "full_tensor"):  # torchtitan/distributed/utils.py, clip_grad_norm_
                norm = norm.full_tensor()
            norm **= 2.0
            dist.all_reduce(norm, group=group)
            norm **= 0.5
            torch.nn.utils.clip_grads_with_norm_(trainable, spec["max_grad_norm"], norm)
            del norm
        optimizer.step()
        if spec.get("zero_grad", "after_step") == "after_step":
            optimizer.zero_grad(set_to_none=to_none)


def optimizer_of(spec, trainable):
    import other_optimizers
    import torch

    name = spec.get("optimizer", "adamw")
    if name in other_optimizers.NAMES:
        return other_optimizers.other_optimizer(name, trainable)
    kind = {"adamw": "AdamW", "adam": "Adam", "sgd": "SGD", "adafactor": "Adafactor", "rmsprop": "RMSprop", "adagrad": "Adagrad"}[name]
    options = {"foreach": {"foreach": True}, "fused": {"fused": True}, "loop": {"foreach": False}}.get(spec.get("optimizer_impl"), {})
    options |= {key: spec[key] for key in ("weight_decay", "momentum", "amsgrad", "nesterov", "centered", "maximize") if key in spec}
    if has_experts_apart(spec):  # one call of a foreach kernel takes tensors of one kind
        kinds = [[p for p in trainable if (type(p) is not torch.nn.Parameter) == is_apart] for is_apart in (True, False)]
        trainable = [{"params": kind} for kind in kinds if kind]
    return getattr(torch.optim, kind)(trainable, lr=1e-4, **options)


def param_groups(trainable, spec):
    """Tensors that are split over devices in one group, others in another: one call of a foreach function takes either kind."""
    if "tp" not in spec:
        return trainable
    from torch.distributed.tensor import DTensor

    is_split = [isinstance(p, DTensor) and "tp" in p.device_mesh.mesh_dim_names for p in trainable]
    groups = [[p for p, of_kind in zip(trainable, is_split) if of_kind == split] for split in (True, False)]
    return [{"params": group} for group in groups if group]


def rows_of(spec):
    """One batch on the host: text, with images in front if there are any."""
    import torch

    if module := trl_loops.module_of(spec):
        return module.rows(spec)
    tokens = torch.full((spec["batch"], spec["seq"]), 5)
    rows = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "labels": tokens.clone()}
    if spec.get("head") == "sequence_classification":
        rows["labels"] = torch.ones(spec["batch"], dtype=torch.int64)
    if spec.get("images") and spec["model"]["model_type"] == "qwen2_vl":
        with_grids(rows, spec)
    elif spec.get("images"):
        vision = spec["model"]["vision_config"]
        side, patches = vision["image_size"], (vision["image_size"] // vision["patch_size"]) ** 2
        tokens[:, : patches * spec["images"]] = spec["model"]["image_token_index"]
        dtype = getattr(torch, DTYPES[spec.get("dtype", "bf16")])
        rows["pixel_values"] = torch.zeros(spec["batch"] * spec["images"], 3, side, side, dtype=dtype)
    return rows


def with_grids(rows, spec):
    """Images of one size, each between a token that opens it and one that closes it, and the text behind the last."""
    import torch

    height, width = (int(side) // 14 for side in spec["image_size"].split("x"))
    tokens = height * width // 4
    kinds = torch.zeros_like(rows["input_ids"])
    for image in range(spec["images"]):
        start = image * (tokens + 2) + 1
        kinds[:, start : start + tokens] = 1
    rows["input_ids"][kinds == 1] = spec["model"]["image_token_id"]
    images = spec["batch"] * spec["images"]
    rows["pixel_values"] = torch.zeros(images * height * width, 1176, dtype=getattr(torch, DTYPES[spec.get("dtype", "bf16")]))
    rows["image_grid_thw"] = torch.tensor([[1, height, width]] * images)
    rows["mm_token_type_ids"] = kinds


def train(spec):
    """The training loop that a spec stands for."""
    import gemini
    import torch

    if "pp" in spec:
        return trained_by_pipeline(spec)
    if spec.get("loop", "plain") != "plain":
        from trainer import trained_by_trainer
        from zero_training import is_made_in_parts

        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
        where = "cpu" if spec.get("parallel", "none").startswith("zero") else "cuda"
        model = (lambda: build(spec)) if is_made_in_parts(spec) else build(spec, where)
        whole = {key: value for key, value in spec.items() if key not in ("freeze", "train_only")}
        return trained_by_trainer(spec, model, rows_of(spec), pause, lambda: build(whole, where))
    if spec.get("parallel", "none").startswith("zero"):
        from zero_training import trained_by_deepspeed

        return trained_by_deepspeed(spec, build, rows_of(spec), optimizer_of)
    if spec.get("parallel") == "gemini":
        return gemini.trained_by_gemini(spec, build, rows_of(spec))
    torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
    loop(wrapped(build(spec), spec), rows_of(spec), spec)


def loop(model, rows, spec):
    """Steps of a model on what `rows` has on the host."""
    import torch
    from context_parallel import cp_mesh, tokens_split

    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = optimizer_of(spec, param_groups(trainable, spec))
    autocast = spec.get("autocast", "none")
    precision = torch.autocast("cuda", dtype=getattr(torch, DTYPES[autocast])) if autocast != "none" else contextlib.nullcontext()
    scaler = torch.amp.GradScaler("cuda") if spec.get("grad_scaler") else None
    where, to_none = spec.get("zero_grad", "after_step"), spec.get("set_to_none", True)
    mesh = cp_mesh(spec)
    for _ in range(spec.get("steps", 3)):
        if where == "before_forward":
            optimizer.zero_grad(set_to_none=to_none)
        for micro in range(spec.get("grad_accumulation", 1)):
            batch = {name: row.to("cuda") for name, row in rows.items()}
            if not spec.get("fsdp2", {}).get("requires_gradient_sync", True):
                model.set_requires_gradient_sync(micro + 1 == spec["grad_accumulation"])
            apart = spec.get("ddp", {}).get("no_sync") and micro + 1 < spec.get("grad_accumulation", 1)
            with tokens_split(batch, spec, mesh):
                with model.no_sync() if apart else contextlib.nullcontext(), precision:
                    out = model(**batch)
                    loss = out.loss
                del out
                if where == "before_backward" and micro == 0:
                    optimizer.zero_grad(set_to_none=to_none)
                if scaler:
                    scaler.scale(loss).backward()
                else:
                    loss.backward()
                if spec.get("parallel") == "ddp":
                    pause(trainable[0])
            del loss, batch
        if spec.get("max_grad_norm"):
            if scaler:
                scaler.unscale_(optimizer)
            if spec.get("parallel") == "fsdp1":
                model.clip_grad_norm_(spec["max_grad_norm"])
            else:
                torch.nn.utils.clip_grad_norm_(trainable, spec["max_grad_norm"])
        if scaler:
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()
        if where == "after_step":
            optimizer.zero_grad(set_to_none=to_none)
    gc.disable()  # behind the last step: what is in a cycle stays until the process ends, whenever the collector would have run


def pause(parameter):
    """As long as ProcessGroupNCCL's watchdog sleeps (100 ms, torch 2.11.0), which a step of a real model takes: till it looks, what a
    collective used is not freed.  Operations that allocate nothing pass the virtual GPU's time (docs/design/clock.md)."""
    for _ in range(12_000):
        parameter.detach().zero_()


def versions(spec):
    import gemini

    names = ("torch", "transformers", "peft", *(("deepspeed",) if spec.get("parallel", "none").startswith("zero") else ()), *(("bitsandbytes",) if "quantization" in spec else ()), *trl_loops.packages(spec))
    return {**{name: metadata.version(name).split("+")[0] for name in names}, **({"colossalai": gemini.version()} if spec.get("parallel") == "gemini" else {})}


def pack(case, lines, out):
    header = {"spec": case["spec"], "card": case["card"], "versions": versions(case["spec"])}
    text = json.dumps(header) + "\n" + "\n".join(lines) + "\n"
    path = out / (case["name"] + ".txt.gz")
    with open(path, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", compresslevel=9, mtime=0, filename="") as packed:
        packed.write(text.encode())


def import_first(cases):
    """What a case would import by itself, which takes longer than its training: all but peft, whose import touches the device."""
    import transformers

    for name in ("torch._dynamo", "torch.distributed.fsdp", "torch.distributed.pipelining", "torch.distributed.tensor", "torchvision"):
        importlib.import_module(name)
    if any(case["spec"].get("parallel", "none").startswith("zero") for case in cases):
        importlib.import_module("deepspeed")
    with contextlib.suppress(ImportError):  # what triton's compiled kernels are filed under: a digest of all of triton
        from triton.runtime.cache import triton_key

        importlib.import_module("triton.experimental.gluon")
        triton_key()
    for case in cases:
        config = transformers.AutoConfig.for_model(**case["spec"]["model"])
        auto_of(case["spec"])._model_mapping[type(config)]


def without_interval():
    """The report's interval comes from programs of their own, which take longer than the training; it is not recorded."""
    from tidemark.inside import replays

    replays.answers = lambda run_dir, events: {}


def record_all(cases, out, folder, late, named):
    """Runs under `tidemark run`: one forked child per case, so that libraries are imported once."""
    is_asked = all(os.environ.get("RANK", "0") == str(case["spec"].get("rank", 0)) for case in cases)  # else it runs for what it sends to the rank that is
    cases = [case for case in cases if not is_asked or not (folder / (case["name"] + ".events")).exists()]
    import_first(cases)
    without_interval()
    failed = []
    for case in cases:
        events = folder / (case["name"] + (".events" if is_asked else ".sent"))
        child = os.fork()
        if child == 0:
            os.environ["TIDEMARK_COMPLETIONS" if late else "TIDEMARK_EVENTS"] = str(events)
            if "pp" in case["spec"]:
                keep_messages(folder, case)
            try:
                train(case["spec"])
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)  # the report is written (inside/leaving.py); taking the interpreter down takes longer than the training
        if os.waitpid(child, 0)[1] != 0 or not events.exists():
            if not awaits(folder, case):
                failed.append(case["name"])
            continue
        if not is_asked:
            continue
        lines = events.read_text().splitlines()
        pack(case, [line.split(" ", 1)[0] for line in lines], out)
        if named:
            pack(case, lines, named)
        print(case["name"], flush=True)
    if failed:
        sys.exit("failed: " + " ".join(failed))


def kind_of(case):
    """On one GPU, on several, or under Gemini, which needs an environment of its own (gemini.py)."""
    parallel = case["spec"].get("parallel", "none")
    if parallel == "gemini":
        return "gemini"
    return "one" if parallel == "none" and not {"pp", "tp", "cp"} & case["spec"].keys() else "several"


def group_of(case):
    """What is recorded together: the ranks of a pipeline, which tell each other their shapes."""
    return case["name"].rsplit("_", 1)[0] if "pp" in case["spec"] else case["name"]


def keep_messages(folder, case):
    """The shapes that stages tell each other, apart for each case: in the folders that its ranks share."""
    messages, run = folder / "messages" / group_of(case), folder / "runs" / case["name"]
    for path in (messages, run):
        path.mkdir(parents=True, exist_ok=True)
    (run / "awaits").unlink(missing_ok=True)
    os.environ["TIDEMARK_MESSAGES"], os.environ["TIDEMARK_RUN_DIR"] = str(messages), str(run)


def awaits(folder, case):
    """Whether it left because another rank, which has not run so far, has something to tell it."""
    return (folder / "runs" / case["name"] / "awaits").exists()


def rounds_of(pp):
    """What stages tell each other goes from the first to the last, every rank's one in a round, and back, one in a round (torch >= 2.12)."""
    return pp.get("stages_per_rank", 1) * (1 + pp["degree"])


def machine_of(case):
    return case["card"], str(case["spec"].get("gpus", 1)), str(case["spec"].get("rank", 0)), case["spec"].get("moe_routing", "balanced")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tidemark", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=KINDS)
    parser.add_argument("--late", action="store_true")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--named", type=pathlib.Path)
    parser.add_argument("--inside", nargs=5, metavar=("CARD", "GPUS", "RANK", "ROUTING", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path.insert(0, str(HERE))
    from step_cases import cases

    groups = {group_of(case) for case in cases() if case["name"] in options.only}
    chosen = [case for case in cases() if kind_of(case) in options.kinds and (not options.only or group_of(case) in groups)]
    if options.missing:
        groups = {group_of(case) for case in chosen if not (options.out / (case["name"] + ".txt.gz")).exists()}
        chosen = [case for case in chosen if group_of(case) in groups]
    machines = sorted({machine_of(case) for case in chosen})
    if options.inside:
        *machine, folder = options.inside
        mine = [case for case in chosen if machine_of(case) == tuple(machine)]
        return record_all(mine, options.out, pathlib.Path(folder), options.late, options.named)
    for out in filter(None, (options.out, options.named)):
        out.mkdir(parents=True, exist_ok=True)
    worst = 0
    rounds = max((rounds_of(case["spec"]["pp"]) for case in chosen if "pp" in case["spec"]), default=1)
    with tempfile.TemporaryDirectory() as folder:
        for card, gpus, rank, routing in machines * rounds:  # a rank that awaits another's word runs again
            mine = [case for case in chosen if machine_of(case) == (card, gpus, rank, routing)]
            if all((pathlib.Path(folder) / (case["name"] + ".events")).exists() for case in mine):
                continue
            command = [options.tidemark, "run", "--gpu", card, "--gpus", gpus, "--rank", rank, "--moe-routing", routing, "--event-order", "late" if options.late else "instant", "--steps", "100000", "--quiet", "--", options.python, __file__]
            command += ["--tidemark", options.tidemark, "--out", str(options.out), *(["--late"] if options.late else []), *(["--missing"] if options.missing else []), *(["--named", str(options.named)] if options.named else [])]
            command += ["--inside", card, gpus, rank, routing, folder, "--kinds", *options.kinds, "--only", *options.only]
            worst = max(worst, subprocess.run(command, check=False).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())
