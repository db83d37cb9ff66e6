"""How programs are started, and what the frameworks do around a training step."""

import json

import pytest
from running import PYTHON, ROOT, TIDEMARK

pytestmark = pytest.mark.oracle

TINY = """
import torch

def train(steps=5, width=512, batch=64, **options):
    model = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.GELU(), torch.nn.Linear(width, width)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), **options)
    for _ in range(steps):
        model(torch.randn(batch, width, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    return model
"""


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "site" / "tiny"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "training.py").write_text(TINY)
    (folder / "__main__.py").write_text("import sys\nfrom .training import train\nprint('arguments', sys.argv[1:])\ntrain()\n")
    return folder


@pytest.mark.slow("`-m` by each launcher", keep=["torchrun"])
@pytest.mark.parametrize("launcher", [[PYTHON, "-m"], ["torchrun", "--nproc-per-node", "1", "-m"], ["accelerate", "launch", "--num_processes", "1", "--mixed_precision", "no", "-m"]], ids=["python", "torchrun", "accelerate"])
def test_a_module_as_the_program(run, package, launcher):
    done = run([*launcher, "tiny", "--width", "3"], PYTHONPATH=str(package.parent))
    assert done.exit_code == 0, done.errors[-2000:]
    assert "arguments ['--width', '3']" in done.output
    assert done.report["script"]["stopped_after_steps"] == 3


def test_python_c(run, package):
    done = run([PYTHON, "-c", "from tiny.training import train; train()"], PYTHONPATH=str(package.parent))
    assert done.exit_code == 0 and len(done.report["steps"]) == 3


@pytest.mark.slow("a program behind a shell")
def test_through_a_shell(run, package):
    done = run(["bash", "-c", f"exec {PYTHON} -m tiny"], PYTHONPATH=str(package.parent))
    assert done.exit_code == 0 and len(done.report["steps"]) == 3


@pytest.mark.slow("the environment's sitecustomize")
def test_a_sitecustomize_of_the_environment_still_runs(run, package):
    (package.parent / "sitecustomize.py").write_text("print('customised')\n")
    done = run([PYTHON, "-m", "tiny"], PYTHONPATH=str(package.parent))
    assert done.exit_code == 0 and done.output.count("customised") == 1
    assert len(done.report["steps"]) == 3


def test_asking_for_torch_before_importing_it(run_code):
    done = run_code("import importlib.util\nassert importlib.util.find_spec('torch')\n" + TINY + "train()")
    assert done.exit_code == 0 and len(done.report["steps"]) == 3


@pytest.mark.slow("adapters are a category of their own")
def test_peft_files_adapters_apart(run_code):
    done = run_code(
        """
import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

model = LlamaForCausalLM(LlamaConfig(hidden_size=512, intermediate_size=1024, num_hidden_layers=2, num_attention_heads=8, vocab_size=4096))
model = get_peft_model(model, LoraConfig(r=64, target_modules="all-linear")).cuda().train()
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
ids = torch.randint(0, 4096, (2, 64)).cuda()
for _ in range(3):
    model(input_ids=ids, labels=ids).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print("trained", sum(4 * p.numel() for p in model.parameters() if p.requires_grad))
""",
        options=("--keep-going",),
    )
    assert done.exit_code == 0, done.errors[-2000:]
    trained = int(done.output.split("trained ")[1].split()[0])
    assert trained <= done.category("gradients") <= 1.1 * trained + (2 << 20) or done.report["peak"]["phase"] != "optimizer"
    assert any(".lora_A." in row["name"] for row in done.report["at_peak"]["by_module"])


@pytest.mark.slow("evaluation between steps")
def test_trainer_evaluates_between_steps(run_code):
    done = run_code(
        """
import tempfile, torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

class Tokens(torch.utils.data.Dataset):
    def __len__(self): return 64
    def __getitem__(self, i):
        ids = torch.full((32,), i)
        return {"input_ids": ids, "labels": ids}

model = LlamaForCausalLM(LlamaConfig(hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4, vocab_size=512))
with tempfile.TemporaryDirectory() as folder:
    settings = TrainingArguments(output_dir=folder, max_steps=4, per_device_train_batch_size=4, eval_strategy="steps", eval_steps=2, save_strategy="steps", save_steps=2, report_to="none", dataloader_num_workers=2)
    Trainer(model=model, args=settings, train_dataset=Tokens(), eval_dataset=Tokens()).train()
print("trained to the end")
""",
        options=("--keep-going",),
    )
    assert done.exit_code == 0, done.errors[-2000:]
    assert "trained to the end" in done.output
    assert [step["step"] for step in done.report["steps"]][:4] == [1, 2, 3, 4]


@pytest.mark.slow("Lightning's closure")
def test_lightning_separates_forward_from_the_optimizer(run_code):
    """Lightning calls forward and backward from a closure inside `optimizer.step`."""
    done = run_code("""
import lightning, torch

class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(256, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 10))
    def training_step(self, batch, index):
        return self.layers(batch[0]).sum()
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())

loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.zeros(4096, 256)), batch_size=1024)
lightning.Trainer(max_steps=4, logger=False, enable_checkpointing=False, enable_progress_bar=False).fit(Model(), loader)
""")
    assert done.exit_code == 0, done.errors[-2000:]
    second = {phase["phase"] for phase in done.report["steps"][1]["phases"]}
    assert second >= {"forward", "backward", "optimizer"}
    assert done.report["peak"]["phase"] in ("forward", "backward")
    assert done.category("activations") > 1024 * 4096 * 4


def test_notebook(run, tmp_path):
    """Through the function that a notebook calls (tests/python has the rest)."""
    cells = [{"cell_type": "markdown", "source": ["# Training"]}, {"cell_type": "code", "source": ["%matplotlib inline\n", "!nvidia-smi\n", TINY]}, {"cell_type": "code", "source": "train()"}]
    notebook = tmp_path / "training.ipynb"
    notebook.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
    program = f"import sys; sys.path.insert(0, {str(ROOT / 'python')!r}); import tidemark; print(tidemark.run(notebook={str(notebook)!r}, gpu='t4', steps=3).verdict)"
    import os
    import subprocess

    done = subprocess.run([PYTHON, "-c", program], env={**os.environ, "TIDEMARK_BIN": TIDEMARK}, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("fits: ")
