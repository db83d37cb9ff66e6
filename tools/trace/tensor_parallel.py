"""parallelize_module by the `tp` of a spec of `tidemark predict`."""


def placement(text):
    from torch.distributed.tensor import Replicate, Shard

    return Replicate() if text == "replicate" else Shard(int(text[len("shard(") : -1]))


def style(module, name, entry):
    """One entry of the plan: a name, or a map of the arguments of torch's class; a name alone stands for what runs in a model."""
    from torch import nn
    from torch.distributed.tensor import parallel

    options = {"style": entry} if isinstance(entry, str) else dict(entry)
    kind = options.pop("style")
    layouts = {key: placement(value) if "layouts" in key else value for key, value in options.items()}
    if kind == "rowwise" and isinstance(module, nn.Embedding):
        layouts.setdefault("input_layouts", placement("replicate"))
    if kind == "colwise" and name == "lm_head":
        layouts.setdefault("output_layouts", placement("replicate"))
    if kind == "prepare_input":
        keyword = name.rsplit(".", 1)[-1] == "self_attn"  # transformers' layers hand it hidden_states by name
        first, wanted = layouts.pop("input_layouts"), layouts.pop("desired_input_layouts")
        named = {"input_kwarg_layouts": {"hidden_states": first}, "desired_input_kwarg_layouts": {"hidden_states": wanted}}
        return parallel.PrepareModuleInput(**layouts, **(named if keyword else {"input_layouts": (first,), "desired_input_layouts": (wanted,)}))
    if kind == "prepare_output":
        return parallel.PrepareModuleOutput(**{key: (value,) if "layouts" in key else value for key, value in layouts.items()})
    return {"colwise": parallel.ColwiseParallel, "rowwise": parallel.RowwiseParallel, "sequence": parallel.SequenceParallel}[kind](**layouts)


def plan_of(spec):
    """The spec's own, or transformers' for the family, or the one of sequence parallelism."""
    tp = spec["tp"]
    if "plan" in tp:
        return tp["plan"]
    split = {"colwise": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj"), "rowwise": ("self_attn.o_proj", "mlp.down_proj")}
    if spec["model"]["model_type"] == "gpt_neox":
        layers = {"attention.query_key_value": "colwise", "attention.dense": "rowwise", "mlp.dense_h_to_4h": "colwise", "mlp.dense_4h_to_h": "rowwise"}
        return {f"gpt_neox.layers.*.{name}": kind for name, kind in layers.items()}
    names = [("colwise", name) for name in split["colwise"][:3]] + [("rowwise", split["rowwise"][0])] + [("colwise", name) for name in split["colwise"][3:]] + [("rowwise", split["rowwise"][1])]
    if not tp.get("sequence_parallel"):
        return {f"{'model.language_model' if spec.get('images') else 'model'}.layers.*.{name}": kind for kind, name in names}
    whole = {"style": "prepare_input", "input_layouts": "shard(1)", "desired_input_layouts": "replicate"}
    part = {"style": "rowwise", "output_layouts": "shard(1)", "use_local_output": False}
    plan = {"model.embed_tokens": part, "model.layers.*.input_layernorm": "sequence", "model.layers.*.self_attn": whole}
    plan |= {f"model.layers.*.{name}": part if kind == "rowwise" else kind for kind, name in names[:4]}
    plan |= {"model.layers.*.post_attention_layernorm": "sequence", "model.layers.*.mlp": whole}
    plan |= {f"model.layers.*.{name}": part if kind == "rowwise" else kind for kind, name in names[4:]}
    return plan | {"model.norm": "sequence", "lm_head": {"style": "colwise", "input_layouts": "shard(1)"}}


def parallelized(model, spec, mesh):
    from fnmatch import fnmatch

    from torch.distributed.tensor.parallel import parallelize_module
    from torch.nn import Identity

    prefix = "base_model.model." if "lora" in spec and "pp" not in spec else ""  # PEFT's own
    plan = {}
    for pattern, entry in plan_of(spec).items():
        matching = [
            (name, module) for name, module in model.named_modules() if len(name.split(".")) == len((prefix + pattern).split(".")) and all(map(fnmatch, name.split("."), (prefix + pattern).split("."))) and not isinstance(module, Identity)
        ]
        if matching:
            name, module = matching[0]
            plan[prefix + pattern] = style(module, name[len(prefix) :], entry)
    return parallelize_module(model, mesh, plan)
