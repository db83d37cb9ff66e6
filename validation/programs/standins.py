"""What a hub would give, made here: configurations without weights, small tokenizers, small data.  The same bytes on every machine.

    python standins.py KIND FOLDER ARGUMENTS    (arguments as JSON)

Weights are not made: `tidemark run --fake-weights` loads them from the configuration.  Every function here whose first parameter is `folder` is a kind.
"""

import gzip
import inspect
import json
import random
import sys
import wave
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]
CHATML = "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def words(draw, count):
    return " ".join("".join(draw.choices(SYLLABLES, k=draw.randint(1, 4))) for _ in range(count))


def length(draw, median, spread=0.8):
    """As texts are: many short ones, some much longer."""
    return max(4, min(int(draw.lognormvariate(0, spread) * median), 8 * median))


def write(folder, name, value):
    path = Path(folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=2))


def write_rows(folder, name, rows):
    write(folder, name, "".join(json.dumps(row) + "\n" for row in rows))


def recorded(name):
    """A configuration that tests/golden/hub_configs has."""
    rows = map(json.loads, gzip.open(ROOT / "tests/golden/hub_configs/hub.txt.gz", "rt"))
    return next(row["config"] for row in rows if row["name"] == name)


def model(folder, config, tokenizer=None, files=None, special=()):
    """A checkpoint without weights.  `config`: its config.json, or the name of one that is recorded; `files`: more JSON files; `special`: more tokens."""
    write(folder, "config.json", recorded(config) if isinstance(config, str) else config)
    for name, value in (files or {}).items():
        write(folder, name, value)
    if tokenizer:
        TOKENIZERS[tokenizer](folder, list(special))


def chatml_tokenizer(folder, special):
    """Byte-level BPE with the tokens of ChatML, as Qwen's."""
    bpe(folder, SPECIAL + special)
    write(folder, "tokenizer_config.json", {
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": None, "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "model_max_length": 32768, "chat_template": CHATML,
        **({"additional_special_tokens": special} if special else {}),
    })


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


def bpe(folder, special):
    from tokenizers import ByteLevelBPETokenizer

    made = ByteLevelBPETokenizer()
    made.train_from_iterator([words(random.Random(0), 20000)], vocab_size=1500, special_tokens=special, show_progress=False)
    Path(folder).mkdir(parents=True, exist_ok=True)
    made.save(str(Path(folder, "tokenizer.json")))
    made.save_model(str(folder))   # vocab.json and merges.txt


def bert_tokenizer(folder, special):
    from tokenizers import BertWordPieceTokenizer

    made = BertWordPieceTokenizer()
    made.train_from_iterator([words(random.Random(0), 20000)], vocab_size=1500, show_progress=False)
    Path(folder).mkdir(parents=True, exist_ok=True)
    made.save(str(Path(folder, "tokenizer.json")))
    made.save_model(str(folder))   # vocab.txt
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
    write(folder, "tokenizer_config.json", {"tokenizer_class": "CLIPTokenizer", "bos_token": "<|startoftext|>", "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>", "pad_token": "<|endoftext|>", "model_max_length": 77, "do_lower_case": True})


TOKENIZERS = {"qwen": qwen_tokenizer, "whisper": whisper_tokenizer, "clip": clip_tokenizer, "chatml": chatml_tokenizer, "gpt2": gpt2_tokenizer, "bert": bert_tokenizer}


def chat(draw, turns, median):
    return [{"role": ("user", "assistant")[turn % 2], "content": words(draw, length(draw, median))} for turn in range(2 * turns)]


def chats(folder, rows=512, median=120, column="messages"):
    draw = random.Random(1)
    for split, count in (("train", rows), ("test", rows // 8)):
        write_rows(folder, f"{split}.jsonl", ({column: chat(draw, draw.randint(1, 4), median)} for _ in range(count)))


def preferences(folder, rows=256, median=120):
    """Two answers to one question, as whole conversations."""
    draw = random.Random(2)

    def row():
        question = {"role": "user", "content": words(draw, length(draw, median // 2))}
        return {side: [question, {"role": "assistant", "content": words(draw, length(draw, median))}] for side in ("chosen", "rejected")}

    for split, count in (("train", rows), ("test", rows // 8)):
        write_rows(folder, f"{split}.jsonl", (row() for _ in range(count)))


def prompts(folder, rows=256, median=60):
    draw = random.Random(3)
    for split, count in (("train", rows), ("test", rows // 8)):
        write_rows(folder, f"{split}.jsonl", ({"prompt": [{"role": "user", "content": words(draw, length(draw, median))}], "solution": words(draw, 4)} for _ in range(count)))


def texts(folder, lines=2000, median=60):
    """Plain text: train.txt and validation.txt."""
    draw = random.Random(4)
    for split, count in (("train", lines), ("validation", lines // 10)):
        write(folder, f"{split}.txt", "".join(words(draw, length(draw, median)) + "\n" for _ in range(count)))


def sentence_pairs(folder, rows=512, median=20, index=None):
    """As GLUE's: two sentences and a label, train.json and validation.json."""
    draw = random.Random(5)
    for split, count in (("train", rows), ("validation", rows // 8)):
        write_rows(folder, f"{split}.json", ({"sentence1": words(draw, length(draw, median)), "sentence2": words(draw, length(draw, median)), "label": draw.randint(0, 1), **({index: number} if index else {})} for number in range(count)))


def picture(draw, width, height):
    """A few coarse squares: small as a file, whatever its sides."""
    from PIL import Image

    return Image.frombytes("RGB", (4, 4), draw.randbytes(48)).resize((width, height))


def pictures(folder, classes=4, each=16, width=320, height=240, splits=("train", "val"), ending="jpg"):
    """A folder of images for each class, as ImageNet's."""
    draw = random.Random(6)
    for split in splits:
        for number in range(classes):
            above = Path(folder, split, f"class{number}")
            above.mkdir(parents=True, exist_ok=True)
            for index in range(each):
                picture(draw, width + draw.randint(0, width), height + draw.randint(0, height)).save(above / f"{index}.{ending}")


def captioned(folder, rows=32, width=640, height=512):
    """Images with a text each, as `imagefolder` reads them."""
    draw, lines = random.Random(7), []
    Path(folder, "train").mkdir(parents=True, exist_ok=True)
    for index in range(rows):
        picture(draw, width, height).save(Path(folder, "train", f"{index}.png"))
        lines.append({"file_name": f"{index}.png", "text": words(draw, length(draw, 8))})
    write_rows(folder, "train/metadata.jsonl", lines)


def image_chats(folder, rows=96, median=60, sides=(200, 900), content="parts"):
    """Questions about one image of any sides."""
    from datasets import Dataset, Features, Image, Sequence, Value

    draw = random.Random(8)
    part = {"type": Value("string"), "text": Value("string")} if content == "parts" else None
    features = Features({"messages": [{"role": Value("string"), "content": [part] if part else Value("string")}], "images": Sequence(Image())})

    def said(text, with_image):
        return [{"type": "image", "text": None}] * with_image + [{"type": "text", "text": text}] if part else text

    def row():
        question, answer = words(draw, length(draw, 12)), words(draw, length(draw, median))
        return {"messages": [{"role": "user", "content": said(question, True)}, {"role": "assistant", "content": said(answer, False)}], "images": [picture(draw, draw.randint(*sides), draw.randint(*sides))]}

    for split, count in (("train", rows), ("test", rows // 8)):
        path = Path(folder, "data", f"{split}-00000-of-00001.parquet")
        path.parent.mkdir(parents=True, exist_ok=True)
        Dataset.from_list([row() for _ in range(count)], features=features).to_parquet(path)


def speech(folder, rows=48, seconds=(1, 20)):
    """Noise of any length with a text each, as `audiofolder` reads them."""
    draw = random.Random(9)
    for split, count in (("train", rows), ("test", rows // 6)):
        above, lines = Path(folder, split), []
        above.mkdir(parents=True, exist_ok=True)
        for index in range(count):
            duration = draw.uniform(*seconds)
            with wave.open(str(above / f"{index}.wav"), "wb") as file:
                file.setnchannels(1)
                file.setsampwidth(2)
                file.setframerate(16000)
                file.writeframes(draw.randbytes(2 * int(16000 * duration)))
            lines.append({"file_name": f"{index}.wav", "text": words(draw, max(1, int(2 * duration)))})
        write_rows(above, "metadata.jsonl", lines)


def token_files(folder, tokens=200000, vocabulary=50257):
    """As nanoGPT's prepare.py writes: train.bin and val.bin of 16-bit numbers."""
    draw = random.Random(10)
    Path(folder).mkdir(parents=True, exist_ok=True)
    for split, count in (("train", tokens), ("val", tokens // 10)):
        Path(folder, f"{split}.bin").write_bytes(b"".join(draw.randrange(vocabulary).to_bytes(2, "little") for _ in range(count)))


METRIC = """import datasets
import evaluate


class Metric(evaluate.Metric):
    \"\"\"Says 0 of everything: nothing on the card depends on it.\"\"\"

    def _info(self):
        return evaluate.MetricInfo(description="", citation="", features=datasets.Features({"predictions": datasets.Value(%r), "references": datasets.Value(%r)}))

    def _compute(self, predictions, references, **options):
        return 0.0 if %r == "wer" else {%r: 0.0}
"""


def metric(folder, name, of="int32"):
    """What evaluate.load(NAME) asks the hub for."""
    write(folder, f"{name}.py", METRIC % (of, of, name, name))


def glue(folder, task="mrpc", rows=512):
    """The dataset of that name with one task: the configuration is said in the heading of its README, as datasets on the hub do."""
    sentence_pairs(Path(folder, task), rows, index="idx")
    write(folder, "README.md", f"---\nconfigs:\n- config_name: {task}\n  data_files:\n  - split: train\n    path: {task}/train.json\n  - split: validation\n    path: {task}/validation.json\n---\n")


def files(folder, contents):
    """Files as they are: {name: text or JSON}."""
    for name, value in contents.items():
        write(folder, name, value)


KINDS = {name: kind for name, kind in list(globals().items()) if inspect.isfunction(kind) and list(inspect.signature(kind).parameters)[:1] == ["folder"] and not name.endswith("_tokenizer") and not name.startswith("write") and name != "bpe"}

if __name__ == "__main__":
    KINDS[sys.argv[1]](sys.argv[2], **json.loads(sys.argv[3]))
