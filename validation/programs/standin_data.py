"""Small data whose lengths and sides vary as those of real data do."""

import random
import wave
from pathlib import Path

from made import length, words, write, write_rows


def chat(draw, turns, median):
    return [{"role": ("user", "assistant")[turn % 2], "content": words(draw, length(draw, median))} for turn in range(2 * turns)]


def chats(folder, rows=512, median=120, column="messages"):
    draw = random.Random(1)
    for split, count in (("train", rows), ("test", rows // 8)):
        write_rows(folder, f"{split}.jsonl", ({column: chat(draw, draw.randint(1, 4), median)} for _ in range(count)))


def instructions(folder, rows=512, median=60):
    """As Alpaca's."""
    draw = random.Random(13)
    write_rows(folder, "train.jsonl", ({"instruction": words(draw, length(draw, 12)), "input": "", "output": words(draw, length(draw, median)), "text": ""} for _ in range(rows)))


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


def text_rows(folder, rows=2000, median=200):
    """As C4's: one text a row, data.json."""
    draw = random.Random(12)
    write_rows(folder, "data.json", ({"text": words(draw, length(draw, median))} for _ in range(rows)))


def sentence_pairs(folder, rows=512, median=20, index=None, labels=("different", "equal")):
    """As GLUE's: two sentences and a label, train.json and validation.json."""
    draw = random.Random(5)
    for split, count in (("train", rows), ("validation", rows // 8)):
        write_rows(folder, f"{split}.json", ({"sentence1": words(draw, length(draw, median)), "sentence2": words(draw, length(draw, median)), "label": draw.choice(labels), **({index: number} if index else {})} for number in range(count)))


def glue(folder, task="mrpc", rows=512):
    """The dataset of that name with one task: the configuration is said in the heading of its README, as datasets on the hub do."""
    sentence_pairs(Path(folder, task), rows, index="idx", labels=(0, 1))
    write(folder, "README.md", f"---\nconfigs:\n- config_name: {task}\n  data_files:\n  - split: train\n    path: {task}/train.json\n  - split: validation\n    path: {task}/validation.json\n---\n")


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


def picture_table(folder, rows=512, width=320, height=240):
    """train.csv of pictures and what is on them, as open_clip reads it."""
    draw, lines = random.Random(11), ["filepath,title"]
    Path(folder).mkdir(parents=True, exist_ok=True)
    for index in range(16):
        picture(draw, width, height).save(Path(folder, f"{index}.jpg"))
    # The folder gets its final name when it is whole: paths are from the working directory, where it is placed as `pictures`.
    lines += [f"pictures/{draw.randrange(16)}.jpg,{words(draw, length(draw, 8))}" for _ in range(rows)]
    write(folder, "train.csv", "\n".join(lines) + "\n")


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


def image_questions(folder, rows, distinct=24, median=60, sides=(200, 900)):
    """As FineVision's: images beside pairs of texts; a few images many times, so that many rows are little."""
    import io

    from datasets import Dataset, Features, Image, Sequence, Value

    draw = random.Random(14)
    features = Features({"images": Sequence(Image()), "texts": [{"user": Value("string"), "assistant": Value("string")}]})

    def encoded():
        file = io.BytesIO()
        picture(draw, draw.randint(*sides), draw.randint(*sides)).save(file, "jpeg", quality=30)
        return {"bytes": file.getvalue(), "path": None}

    images = [encoded() for _ in range(distinct)]
    made = [{"images": [draw.choice(images)], "texts": [{"user": words(draw, length(draw, 12)), "assistant": words(draw, length(draw, median))}]} for _ in range(512)]
    Path(folder).mkdir(parents=True, exist_ok=True)
    Dataset.from_dict({name: [made[number % 512][name] for number in range(rows)] for name in ("images", "texts")}, features=features).to_parquet(Path(folder, "train.parquet"))


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


def cuda_toolkit(folder, release="13.0"):
    """Says which release it is, as `nvcc -V` does, and compiles nothing."""
    write(folder, "bin/nvcc", f"#!/bin/sh\necho 'Cuda compilation tools, release {release}, V{release}.0'\n")
    Path(folder, "bin/nvcc").chmod(0o755)


def files(folder, contents):
    """Files as they are: {name: text or JSON}."""
    for name, value in contents.items():
        write(folder, name, value)


KINDS = (chats, instructions, preferences, prompts, texts, text_rows, sentence_pairs, glue, pictures, picture_table, captioned, image_chats, image_questions, speech, token_files, metric, cuda_toolkit, files)
