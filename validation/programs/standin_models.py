"""Checkpoints without weights: configurations as published, small tokenizers."""

import base64
import gzip
import json
import math
import random
from pathlib import Path

from made import words, write

ROOT = Path(__file__).resolve().parents[2]
CHATML = "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def recorded(name):
    """A configuration that tests/golden/hub_configs has."""
    with gzip.open(ROOT / "tests/golden/hub_configs/hub.txt.gz", "rt") as file:
        configs = {row["name"]: row["config"] for row in map(json.loads, file)}
    if name not in configs:
        raise KeyError(f"no configuration `{name}` is recorded; there are {', '.join(sorted(configs))}")
    return configs[name]


def model(folder, config, tokenizer=None, files=None, special=()):
    """A checkpoint without weights.  `config`: its config.json, or the name of one that is recorded; `files`: more JSON files; `special`: more tokens."""
    write(folder, "config.json", recorded(config) if isinstance(config, str) else config)
    for name, value in (files or {}).items():
        write(folder, name, value)
    if tokenizer:
        TOKENIZERS[tokenizer](folder, list(special))


def llama_tensors(config):
    """{name: shape} as modeling_llama.py of transformers names them, of a model whose embedding is also its head."""
    hidden, wide, heads, groups = (config[key] for key in ("hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads"))
    values = hidden // heads * groups
    layer = {
        "self_attn.q_proj": (hidden, hidden),
        "self_attn.k_proj": (values, hidden),
        "self_attn.v_proj": (values, hidden),
        "self_attn.o_proj": (hidden, hidden),
        "mlp.gate_proj": (wide, hidden),
        "mlp.up_proj": (wide, hidden),
        "mlp.down_proj": (hidden, wide),
        "input_layernorm": (hidden,),
        "post_attention_layernorm": (hidden,),
    }
    layers = {f"model.layers.{number}.{name}.weight": shape for number in range(config["num_hidden_layers"]) for name, shape in layer.items()}
    return {"model.embed_tokens.weight": (config["vocab_size"], hidden), **layers, "model.norm.weight": (hidden,)}


def holes(path, tensors):
    """A safetensors file of bfloat16 whose data is a hole: it has its length and takes no room.  For programs that read weights by themselves."""
    header, offset = {}, 0
    for name, shape in tensors.items():
        size = 2 * math.prod(shape)
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + offset)


def llama_weights(folder, config):
    """Meta's layout: config.json, one file of weights, and a tokenizer of single bytes in tiktoken's form."""
    config = recorded(config)
    write(folder, "config.json", config)
    holes(Path(folder, "model.safetensors"), llama_tensors(config))
    write(folder, "original/tokenizer.model", "".join(f"{base64.b64encode(bytes([byte])).decode()} {byte}\n" for byte in range(256)))


def siglip_tensors(config):
    """{name: shape} of the tower of modeling_siglip.py of transformers, without its pooling head."""
    hidden, wide, patch = (config[key] for key in ("hidden_size", "intermediate_size", "patch_size"))
    layer = {"mlp.fc1": (wide, hidden), "mlp.fc2": (hidden, wide), "layer_norm1": (hidden,), "layer_norm2": (hidden,), **{f"self_attn.{name}": (hidden, hidden) for name in ("q_proj", "k_proj", "v_proj", "out_proj")}}
    weights = {f"encoder.layers.{number}.{name}": shape for number in range(config["num_hidden_layers"]) for name, shape in layer.items()} | {"post_layernorm": (hidden,), "embeddings.patch_embedding": (hidden, 3, patch, patch)}
    table = {"vision_model.embeddings.position_embedding.weight": ((config["image_size"] // patch) ** 2, hidden)}
    return table | {f"vision_model.{name}.{kind}": shape if kind == "weight" else shape[:1] for name, shape in weights.items() for kind in ("weight", "bias")}


def hub_snapshot(folder, config, tower=None, tokenizer=None):
    """A model in the form of the hub's cache, for programs that ask the hub for files by name.  `tower`: the part of config.json that a SigLIP's weights are made of."""
    write(folder, "refs/main", "0")
    model(Path(folder, "snapshots/0"), config, tokenizer)
    holes(Path(folder, "snapshots/0/model.safetensors"), siglip_tensors(config[tower]) if tower else llama_tensors(config))


def pipeline(folder, parts, tokenizers=("tokenizer",)):
    """Of diffusers: {part: configuration}, and CLIP tokenizers in folders of these names."""
    for part, config in parts.items():
        write(folder, f"{part}/{'scheduler_config' if part == 'scheduler' else 'config'}.json", config)
    for name in tokenizers:
        clip_tokenizer(Path(folder, name), [])


def bpe(folder, special):
    from tokenizers import ByteLevelBPETokenizer

    made = ByteLevelBPETokenizer()
    made.train_from_iterator([words(random.Random(0), 20000)], vocab_size=1500, special_tokens=special, show_progress=False)
    Path(folder).mkdir(parents=True, exist_ok=True)
    made.save(str(Path(folder, "tokenizer.json")))
    made.save_model(str(folder))  # vocab.json and merges.txt


def chatml_tokenizer(folder, special):
    """Byte-level BPE with the tokens of ChatML, as Qwen's."""
    bpe(folder, SPECIAL + special)
    write(
        folder,
        "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": None,
            "eos_token": "<|im_end|>",
            "pad_token": "<|endoftext|>",
            "model_max_length": 32768,
            "chat_template": CHATML,
            **({"additional_special_tokens": special} if special else {}),
        },
    )


QWEN = [f"<|{name}|>" for name in "endoftext im_start im_end object_ref_start object_ref_end box_start box_end quad_start quad_end vision_start vision_end vision_pad image_pad video_pad".split()]
# What the model sees of an image is as many tokens as the processor says: the template has one, which the processor repeats.
VISION = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n'}}{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>{% elif part['type'] == 'text' %}{{ part['text'] }}{% endif %}{% endfor %}{% endif %}"
    "{{'<|im_end|>\\n'}}{% endfor %}{% if add_generation_prompt %}{{'<|im_start|>assistant\\n'}}{% endif %}"
)


def qwen_tokenizer(folder, special):
    """As Qwen2's with the ids that its configurations name: the first special token is number 151643 (tokenizer_config.json of Qwen2-0.5B)."""
    bpe(folder, [])
    path = Path(folder, "tokenizer.json")
    made = json.loads(path.read_text())
    vocabulary = made["model"]["vocab"]
    vocabulary.update({f"<unused{number}>": number for number in range(len(vocabulary), 151643)})
    made["added_tokens"] = [{"id": 151643 + number, "content": token, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True} for number, token in enumerate(QWEN + special)]
    path.write_text(json.dumps(made))
    write(folder, "vocab.json", vocabulary)
    write(folder, "chat_template.jinja", VISION)
    write(folder, "tokenizer_config.json", {"tokenizer_class": "Qwen2Tokenizer", "bos_token": None, "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "model_max_length": 32768})


def gpt2_tokenizer(folder, special):
    bpe(folder, ["<|endoftext|>"] + special)
    write(folder, "tokenizer_config.json", {"tokenizer_class": "GPT2Tokenizer", "bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>", "model_max_length": 1024})


def bert_tokenizer(folder, special):
    from tokenizers import BertWordPieceTokenizer

    made = BertWordPieceTokenizer()
    made.train_from_iterator([words(random.Random(0), 20000)], vocab_size=1500, show_progress=False)
    Path(folder).mkdir(parents=True, exist_ok=True)
    made.save(str(Path(folder, "tokenizer.json")))
    made.save_model(str(folder))  # vocab.txt
    write(folder, "tokenizer_config.json", {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 512})


def whisper_tokenizer(folder, special):
    bpe(folder, ["<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|transcribe|>", "<|translate|>", "<|nospeech|>", "<|notimestamps|>"] + special)
    write(folder, "tokenizer_config.json", {"tokenizer_class": "WhisperTokenizer", "bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>", "pad_token": "<|endoftext|>", "model_max_length": 448})


def clip_tokenizer(folder, special):
    """BPE over characters with ends of words, as CLIP's."""
    from tokenizers import CharBPETokenizer

    made = CharBPETokenizer(suffix="</w>", unk_token="<|endoftext|>", lowercase=True)
    made.train_from_iterator([words(random.Random(0), 20000)], vocab_size=1500, special_tokens=["<|startoftext|>", "<|endoftext|>"], suffix="</w>", show_progress=False)
    Path(folder).mkdir(parents=True, exist_ok=True)
    made.save_model(str(folder))
    write(
        folder,
        "tokenizer_config.json",
        {"tokenizer_class": "CLIPTokenizer", "bos_token": "<|startoftext|>", "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>", "pad_token": "<|endoftext|>", "model_max_length": 77, "do_lower_case": True},
    )


TOKENIZERS = {"chatml": chatml_tokenizer, "qwen": qwen_tokenizer, "gpt2": gpt2_tokenizer, "bert": bert_tokenizer, "whisper": whisper_tokenizer, "clip": clip_tokenizer}
KINDS = (model, pipeline, llama_weights, hub_snapshot)
