#!/usr/bin/env python3
"""Write the skeleton of a family: src/zoo/MODEL_TYPE.cpp, its lines in index.h and index.cpp.

    tidemark run --gpu h200 -- python tools/new_model.py config.json      (torch is needed, a card is not)

The fields and their defaults come from transformers' configuration class, the modules from the model on the meta device.
A model whose modules are those of nn/decoder.h gets a Decoder and is done once its forward is compared; of another, the
layers are written as add_… calls, and its forward stays to be written (TODO).
"""
import dataclasses
import json
import pathlib
import re
import sys
import textwrap
import typing

ROOT = pathlib.Path(__file__).resolve().parent.parent
TYPES = {int: "std::int64_t", float: "double", str: "std::string", bool: "bool"}
HARMLESS = ("eps", "default_theta")  # parts of names that change no memory
# Fields of DecoderConfig (src/zoo/text_config.h), and what they are there.
SHARED = {"vocab_size": 0, "hidden_size": 0, "intermediate_size": 0, "num_hidden_layers": 0, "num_attention_heads": 0,
          "num_key_value_heads": None, "head_dim": None, "max_position_embeddings": 2048, "hidden_act": "silu",
          "attention_dropout": 0, "tie_word_embeddings": False, "pad_token_id": None}
SHARED_HARMLESS = {"rms_norm_eps", "rope_theta"}
DECODER = {"embed_tokens", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj",
           "mlp.up_proj", "mlp.down_proj", "mlp.act_fn", "input_layernorm", "post_attention_layernorm", "norm", "rotary_emb", "lm_head"}


def config_fields(cls):
    """(name, C++ type, default, info) of the class's own fields, and the names that change no memory."""
    import transformers
    common = {f.name for f in dataclasses.fields(transformers.PreTrainedConfig)} - {"tie_word_embeddings"}
    common |= set(re.findall(r'"(\w+)"', (ROOT / "src/zoo/hf_config.cpp").read_text()))  # harmless_config_keys
    fields, harmless = [], []
    for f in dataclasses.fields(cls):
        if f.name in common or f.name.startswith("rope_"):
            continue
        if any(word in f.name for word in HARMLESS):
            harmless.append(f.name)
            continue
        kinds = [t for t in (typing.get_args(f.type) or (f.type,)) if t in TYPES]
        if f.name == "layer_types":
            fields.append((f.name, "std::optional<std::vector<std::string>>", None, "kAny"))
        elif kinds:
            kind = float if "dropout" in f.name else kinds[0]
            info = "kProbability" if "dropout" in f.name else "kLayers" if f.name == "num_hidden_layers" else \
                "kSize" if kind is int else "kAny"
            text = TYPES[kind] if f.default is not None else f"std::optional<{TYPES[kind]}>"
            fields.append((f.name, text, f.default, info))
        else:
            fields.append((f.name, "Value", None, "kAny"))
    return fields, harmless


def literal(value):
    return json.dumps(value) if isinstance(value, (bool, str)) else repr(value)


def struct_of(name, cls, fields, harmless, decoder):
    own = [field for field in fields if not decoder or field[0] not in SHARED]
    by_type = {}
    for field, kind, default, _ in own:
        by_type.setdefault(kind, []).append(field if default is None else f"{field} = {literal(default)}")
    lines = [f"struct {name} : DecoderConfig {{" if decoder else f"struct {name} {{"]
    for kind, items in by_type.items():
        lines += textwrap.wrap(f"{kind} {', '.join(items)};", 116, initial_indent="  ", subsequent_indent="      ")
    lines += ["", *constructor(name, cls)] if decoder else ["  RopeConfig rope;", ""]
    lines += ["  template <class Self, class Visit>", "  static void fields(Self& c, Visit&& visit) {"]
    lines += ["    DecoderConfig::fields(c, visit);"] if decoder else []
    lines += [f'    visit("{field}", c.{field}, {info});' for field, _, _, info in own]
    lines += ["  }"] if decoder else ["    RopeConfig::visit_fields(c.rope, visit);", "  }"]
    if not decoder or set(harmless) - SHARED_HARMLESS:
        names = sorted({*harmless, *(SHARED_HARMLESS if decoder else ())})
        lines += ["  static KeyNames harmless() { return {" + ", ".join(f'"{h}"' for h in names) + "}; }"]
    return [*lines, "};"]


def constructor(name, cls):
    """The family's own values of what it shares."""
    values = {f.name: f.default for f in dataclasses.fields(cls) if f.name in SHARED}
    said = ", ".join(f"{key} = {literal(value)}" for key, value in values.items() if value is not None and value != SHARED[key])
    return [f"  {name}() {{", *textwrap.wrap(f"{said};", 114, initial_indent="    ", subsequent_indent="        "), "  }"]


def leaves(config, auto):
    """name -> module for all that holds parameters or acts, of the first layer only."""
    import torch
    import transformers
    with torch.device("meta"):
        model = getattr(transformers, auto).from_config(config)
    found = {}
    for name, module in model.named_modules():
        if not list(module.children()) and name and not re.search(r"\.[1-9]\d*\.", name):
            found[name] = module
    return found


def calls(found, config):
    sizes = {}
    for key, value in vars(config).items():
        if isinstance(value, int) and not isinstance(value, bool):
            sizes.setdefault(value, f"c.{key}")
    name_of = lambda n: sizes.get(n, str(n))
    for name, m in found.items():
        kind, last = type(m).__name__, name.rsplit(".", 1)[-1]
        if kind == "Linear":
            yield f'add_linear(m, "{last}", {name_of(m.in_features)}, {name_of(m.out_features)}, {literal(m.bias is not None)});  // {name}'
        elif kind == "Embedding":
            yield f'add_embedding(m, "{last}", {name_of(m.num_embeddings)}, {name_of(m.embedding_dim)});  // {name}'
        elif kind == "LayerNorm":
            yield f'add_layer_norm(m, "{last}", {name_of(m.normalized_shape[0])});  // {name}'
        elif kind.endswith("RMSNorm"):
            yield f'add_rms_norm(m, "{last}", {name_of(m.weight.shape[0])});  // {name}'
        else:
            yield f"// TODO {name}: {kind}"


def is_decoder(found):
    short = {re.sub(r"^(model\.)?(layers\.0\.)?", "", name) for name in found}
    return short - {"self_attn.q_norm", "self_attn.k_norm"} == DECODER


def decoder_body(model_type, struct, fields, found):
    names = {name for name, *_ in fields}
    biased = lambda part: next(m.bias is not None for n, m in found.items() if n.endswith(part))
    lines = [f"Decoder {model_type}_decoder(const Value& config) {{", f"  const auto c = read_config<{struct}>(config);",
             "  Decoder decoder = c.decoder();"]
    for key, part, field in (("qkv_bias", "q_proj", "attention_bias"), ("output_bias", "o_proj", "attention_bias"),
                             ("mlp_bias", "gate_proj", "mlp_bias")):
        if field in names or biased(part):
            lines.append(f"  decoder.{key} = " + (f"c.{field};" if field in names else "true;"))
    if any(name.endswith("q_norm") for name in found):
        lines.append("  decoder.qk_norm = true;")
    lines += ["  // TODO compare the forward with models/llama, and say here what differs (nn/decoder.h)", "  return decoder;", "}", "",
              f"std::unique_ptr<Model> make_{model_type}(const ModelRequest& request) {{",
              f"  return make_causal_lm(request, {model_type}_decoder(request.config));", "}"]
    return lines


def body(model_type, struct, found, config):
    lines = [f"std::unique_ptr<Model> make_{model_type}(const ModelRequest& request) {{",
             f"  const auto c = read_config<{struct}>(request.config);", "  std::unique_ptr<Model> model = new_model(request);",
             "  Module& m = model->root;"]
    lines += [f"  {call}" for call in calls(found, config)]
    return lines + ["  // TODO model->batch_sizes and model->forward: read modeling_" + model_type + ".py", "  return model;", "}"]


def insert_sorted(path, line, pattern):
    """Puts the line among those that match, in order."""
    lines = path.read_text().splitlines()
    if line in lines:
        return
    places = [i for i, text in enumerate(lines) if re.match(pattern, text)]
    at = next((i for i in places if lines[i] > line), places[-1] + 1)
    lines.insert(at, line)
    path.write_text("\n".join(lines) + "\n")


def main():
    auto = sys.argv[2] if len(sys.argv) > 2 else "AutoModelForCausalLM"
    raw = json.loads(pathlib.Path(sys.argv[1]).read_text())
    model_type = raw.pop("model_type")
    import transformers
    cls = transformers.CONFIG_MAPPING[model_type]
    config = cls(**raw)
    fields, harmless = config_fields(cls)
    struct = "".join(part.capitalize() for part in model_type.split("_")) + "Config"
    found = leaves(config, auto)
    decoder = is_decoder(found)
    written = decoder_body(model_type, struct, fields, found) if decoder else body(model_type, struct, found, config)
    lines = [f"// transformers: models/{model_type}/{{configuration,modeling}}_{model_type}.py ({transformers.__version__})",
             '#include "zoo/causal_lm.h"', '#include "zoo/index.h"', '#include "zoo/text_config.h"', "", "namespace tidemark {",
             "namespace {", "", *struct_of(struct, cls, fields, harmless, decoder), "", "}  // namespace", "", *written, "",
             "}  // namespace tidemark"]
    path = ROOT / f"src/zoo/{model_type}.cpp"
    if path.exists():
        sys.exit(f"{path} is there already")
    path.write_text("\n".join(lines) + "\n")
    insert_sorted(ROOT / "src/zoo/index.h", f"std::unique_ptr<Model> make_{model_type}(const ModelRequest& request);", r"std::unique_ptr<Model> make_")
    if decoder:
        insert_sorted(ROOT / "src/zoo/index.h", f"Decoder {model_type}_decoder(const Value& config);", r"Decoder \w+_decoder")
    heads = '{{"causal_lm", "' + transformers.AutoModelForCausalLM._model_mapping[cls].__name__ + '"}}' if decoder else "{}"
    entry = f'    {{"{model_type}", "{model_type}", {heads}, make_{model_type}' + (f", {model_type}_decoder}}," if decoder else "},")
    insert_sorted(ROOT / "src/zoo/index.cpp", entry, r'    \{"')
    print(f"{path.relative_to(ROOT)}: {len(lines)} lines; go on with docs/howto/add-a-model.md, step 3")


main()
