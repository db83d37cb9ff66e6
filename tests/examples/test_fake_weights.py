"""`--fake-weights`: loading a checkpoint that is not there allocates what loading the real one allocates."""

import pytest
from running import PYTHON, PYTHON_NAMES, PYTHONS

pytestmark = pytest.mark.oracle

CONFIGS = {
    "llama": "transformers.LlamaConfig(hidden_size=256, intermediate_size=700, num_hidden_layers=3, num_attention_heads=8, num_key_value_heads=2, vocab_size=3000)",
    "gpt2": "transformers.GPT2Config(n_embd=256, n_layer=3, n_head=4, vocab_size=3001)",  # tied
    "mixtral": "transformers.MixtralConfig(hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=8, num_key_value_heads=2, vocab_size=3000, num_local_experts=4)",  # experts are stored one by one
}
WRITE = "import sys, torch, transformers; model = transformers.AutoModelForCausalLM.from_config({config}).to(torch.bfloat16); model.save_pretrained(sys.argv[1]); torch.zeros(1).cuda()"
LOAD = """
import sys, torch, transformers
model = transformers.AutoModelForCausalLM.from_pretrained(sys.argv[1], {options}).cuda()
ids = torch.zeros(2, 64, dtype=torch.long, device="cuda")
model(input_ids=ids, labels=ids).loss.backward()
print(model.dtype, sum(p.numel() for p in model.parameters()))
"""


@pytest.fixture
def checkpoints(run_code, tmp_path):
    """A real checkpoint, and the same without its weights."""

    def make(python, config):
        real, empty = tmp_path / "real", tmp_path / "empty"
        assert run_code(WRITE.format(config=CONFIGS[config]), real, python=python).exit_code == 0  # under the launcher: this torch may have no NVIDIA packages
        empty.mkdir()
        for file in real.glob("*.json"):
            (empty / file.name).write_bytes(file.read_bytes())
        return real, empty

    return make


@pytest.mark.slow("fake weights load as real checkpoints do, by each way to load", keep=["device_map-mixtral-newest"])
@pytest.mark.parametrize("python", PYTHONS, ids=PYTHON_NAMES)
@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("options", ["", "torch_dtype=torch.bfloat16, device_map='cuda'", "torch_dtype='auto'"], ids=["plain", "device_map", "auto"])
def test_as_a_real_checkpoint(run_code, checkpoints, python, config, options):
    real, empty = checkpoints(python, config)
    runs = []
    for folder, fake in ((real, ()), (empty, ("--fake-weights",))):
        done = run_code(LOAD.format(options=options), folder, options=("--keep-going", *fake), events=True, python=python)
        if "requires `accelerate`" in done.errors:
            pytest.skip("device_map needs accelerate, which this environment does not have")
        assert done.exit_code == 0, done.errors[-2000:]
        runs.append(done)
    assert runs[0].output.splitlines()[0] == runs[1].output.splitlines()[0]
    # transformers loads from several threads with device_map: the order of two tensors is not the same twice.
    assert sorted(runs[0].events) == sorted(runs[1].events)
    if not options:
        assert runs[0].events == runs[1].events
        assert runs[0].report["peak"] == runs[1].report["peak"]


LARGE = {  # what their configurations say
    "32b": "transformers.Qwen2Config(hidden_size=5120, intermediate_size=27648, num_hidden_layers=64, num_attention_heads=40, num_key_value_heads=8, vocab_size=152064, torch_dtype='bfloat16')",
    "70b": "transformers.LlamaConfig(hidden_size=8192, intermediate_size=28672, num_hidden_layers=80, num_attention_heads=64, num_key_value_heads=8, vocab_size=128256, torch_dtype='bfloat16')",
}


@pytest.mark.slow("host memory of 32B and 70B checkpoints", keep=["to-70b"])
@pytest.mark.parametrize("config", LARGE)
@pytest.mark.parametrize(
    ("options", "width"),
    [("torch_dtype=torch.bfloat16, device_map='cuda'", 2), ("torch_dtype=torch.bfloat16", 2), ("torch_dtype=torch.float32, device_map='cuda'", 4), ("torch_dtype=torch.float32", 4)],
    ids=["device_map", "to", "fp32-device_map", "fp32-to"],
)
def test_host_memory_does_not_grow_with_the_checkpoint(run_code, tmp_path, config, options, width):
    done = run_code(
        f"""
import sys, torch, transformers
{LARGE[config]}.save_pretrained(sys.argv[1])
model = transformers.AutoModelForCausalLM.from_pretrained(sys.argv[1], {options}).to("cuda")
print(sum(p.numel() for p in model.parameters()))
""",
        tmp_path / "model",
        options=("--keep-going", "--fake-weights", "--memory", "400GB"),
    )
    assert done.exit_code == 0, done.errors[-2000:]
    assert done.report["host"]["peak_rss_bytes"] < 4 << 30
    assert done.report["peak"]["allocated_bytes"] >= width * int(done.output.splitlines()[0]) > width * 32_000_000_000


@pytest.mark.slow("fake weights that a program writes to")
def test_weights_that_are_written_to_are_there(run_code, checkpoints):
    """Zeros until something is written; what was not is a float that nobody knows."""
    _, empty = checkpoints(PYTHON, "llama")
    done = run_code(
        """
import sys, torch, transformers
model = transformers.AutoModelForCausalLM.from_pretrained(sys.argv[1])
weights = [model.model.embed_tokens.weight, model.lm_head.weight]
print(*(int(w.count_nonzero()) for w in weights))
with torch.no_grad():
    weights[0][5].fill_(3)
print(int(weights[0].float().sum()))
torch.zeros(1).cuda()
""",
        empty,
        options=("--keep-going", "--fake-weights"),
    )
    assert done.exit_code == 0, done.errors[-2000:]
    assert done.output.splitlines()[:2] == ["0 0", f"{3 * 256}"]


@pytest.mark.slow("an empty folder without --fake-weights")
def test_a_folder_without_weights_is_refused_without_the_option(run_code, checkpoints):
    _, empty = checkpoints(PYTHON, "gpt2")
    done = run_code(LOAD.format(options=""), empty)
    assert done.exit_code == 4 and "model.safetensors" in done.errors
    assert "tidemark/inside" not in done.errors


@pytest.mark.slow("from_pretrained with a configuration object")
def test_a_configuration_object_counts(run_code, checkpoints):
    _, empty = checkpoints(PYTHON, "llama")
    done = run_code(LOAD.format(options="config=" + CONFIGS["llama"].replace("num_hidden_layers=3", "num_hidden_layers=1")), empty, options=("--keep-going", "--fake-weights"))
    assert done.exit_code == 0, done.errors[-2000:]
    assert not any("layers.1" in row["name"] for row in done.report["at_peak"]["by_module"])


@pytest.mark.slow("fake weights of diffusers")
def test_diffusers(run_code, tmp_path):
    done = run_code(
        """
import sys, torch
from diffusers import UNet2DModel
model = UNet2DModel(sample_size=16, block_out_channels=(32, 64), down_block_types=("DownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "UpBlock2D"))
model.save_config(sys.argv[1])
loaded = UNet2DModel.from_pretrained(sys.argv[1], torch_dtype=torch.float16).cuda()
assert loaded.dtype == torch.float16 and sum(p.numel() for p in loaded.parameters()) == sum(p.numel() for p in model.parameters())
""",
        tmp_path / "unet",
        options=("--keep-going", "--fake-weights"),
    )
    assert done.exit_code == 0, done.errors[-2000:]
