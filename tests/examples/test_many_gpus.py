"""One rank of many, alone: real launchers, real DDP, FSDP, tensor parallelism, pipelines and DeepSpeed, and what they must come to."""

import json
import socket
import subprocess

import pytest
from running import PYTHON, PYTHON_NAMES, PYTHONS, ROOT, TIDEMARK, major_version_of, skip_unless_compared

pytestmark = pytest.mark.oracle

EXAMPLES = ROOT / "examples"
DDP = (EXAMPLES / "torchrun_ddp.py", "--layers", "2", "--batch", "2", "--sequence", "128")
FSDP2 = (EXAMPLES / "fsdp2_llama.py", "--layers", "2", "--batch", "1", "--sequence", "128")
LLAVA = (EXAMPLES / "deepspeed_llava.py", "--layers", "1", "--vision-layers", "2", "--batch", "1", "--sequence", "600")
PIPELINE = (EXAMPLES / "pipeline_llama.py", "--layers", "4", "--batch", "8", "--sequence", "128")
TENSOR_PARALLEL = (EXAMPLES / "tensor_parallel_llama.py", "--layers", "2", "--batch", "1", "--sequence", "256")

CONTEXT_PARALLEL = (EXAMPLES / "context_parallel_llama.py", "--layers", "2", "--sequence", "2048")
EXPERTS = (EXAMPLES / "expert_parallel_mixtral.py", "--layers", "1", "--batch", "1", "--sequence", "256")


def torchrun(ranks, program):
    return ["torchrun", "--nproc-per-node", ranks, *program]


def world(ranks, *more):
    return ("--steps", "3", "--gpus", str(ranks), *more)


def succeeded(done):
    assert done.exit_code == 0, done.errors[-2000:]
    assert done.report["consistent"]
    return done


def refused(done, exit_code, *texts):
    assert done.exit_code == exit_code, done.errors[-2000:]
    message = done.errors[done.errors.index("tidemark: ") :]
    assert all(text in message for text in texts), message


# Data parallel


@pytest.mark.slow("DDP on the first and the last rank")
@pytest.mark.parametrize("rank", [0, 3])
def test_ddp_by_torchrun(run, rank):
    done = succeeded(run(torchrun(4, DDP), options=world(4, "--rank", str(rank))))
    assert done.report["rank"] == {"rank": rank, "ranks": 4, "ranks_per_node": 4}
    assert ("step 0" in done.output) == (rank == 0)  # the program itself knows which it is
    weights = 214_244_352
    # The buckets are a copy of the gradients, and so are the first ones, which NCCL's watchdog holds for 100 ms: for longer than a step.  (From 2.8 to 2.14.)
    torch = tuple(map(int, done.report["versions"]["torch"].split(".")[:2]))
    copies = 2 if (2, 8) <= torch < (2, 15) else 1
    assert (copies - 0.05) * weights < done.category("communication") < (copies + 0.05) * weights


@pytest.mark.slow("ports taken by another job")
@pytest.mark.parametrize("ranks", [1, 2])
def test_torchruns_usual_port_may_be_taken(run, ranks):
    with socket.socket() as usual:
        try:
            usual.bind(("", 29500))
            usual.listen()
        except OSError:
            pass  # taken it is
        succeeded(run(torchrun(ranks, DDP), options=world(ranks) if ranks > 1 else ()))


@pytest.mark.slow("a program without a launcher")
def test_a_program_without_a_launcher_is_told_its_rank(run):
    by_torchrun, alone = (succeeded(run(command, options=world(2, "--rank", "1"))).report for command in (torchrun(2, DDP), [PYTHON, *DDP]))
    assert alone["peak"] == by_torchrun["peak"] and alone["steps"] == by_torchrun["steps"]


@pytest.mark.slow("several nodes")
def test_several_nodes(run_code):
    done = run_code(
        """
import os, torch, torch.distributed as dist
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
x = torch.full((3,), dist.get_rank(), device="cuda")
dist.all_reduce(x)
print(torch.cuda.device_count(), torch.cuda.current_device(), dist.get_rank(), dist.get_world_size(), x.tolist())
""",
        options=("--gpus", "6", "--gpus-per-node", "2", "--rank", "5"),
    )
    assert done.exit_code == 0 and "2 1 5 6 [30, 30, 30]" in done.output


@pytest.mark.slow("accelerate launch on several GPUs")
def test_accelerate_launch(run):
    command = ["accelerate", "launch", "--multi_gpu", "--main_process_port", "0", "--num_processes", "2", "--mixed_precision", "bf16", EXAMPLES / "accelerate_llama.py", "--layers", "1", "--batch", "1", "--sequence", "128"]
    assert succeeded(run(command, options=world(2))).category("communication") > 0


@pytest.mark.slow("ranks that the program spawns")
def test_processes_that_the_program_spawns(run_code):
    done = run_code(
        """
import sys, torch, torch.distributed as dist, torch.multiprocessing as mp

def work(rank):
    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29501", rank=rank, world_size=3)
    torch.cuda.set_device(rank)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64).cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        model(torch.zeros(4, 64, device="cuda")).sum().backward()
        optimizer.step()
    print("trained", rank)

if __name__ == "__main__":
    mp.spawn(work, nprocs=3)
""",
        options=("--keep-going", "--gpus", "3", "--rank", "2"),
    )
    assert done.exit_code == 0, done.errors[-2000:]
    assert "trained 2" in done.output and "trained 0" not in done.output


# Shards


def test_fsdp2_holds_its_part(run):
    parts = {ranks: succeeded(run(torchrun(ranks, FSDP2), options=world(ranks))) for ranks in (2, 8)}
    for name in ("parameters", "optimizer_state"):
        assert abs(parts[2].category(name) - 4 * parts[8].category(name)) < 0.02 * parts[2].category(name)  # blocks that were not split
    assert parts[8].category("communication") > 0  # what was gathered, and what is to be reduced


@pytest.mark.slow("DeepSpeed by stage and rank", keep=["2-0"])
@pytest.mark.parametrize("stage, rank", [(1, 0), (2, 0), (3, 0), (3, 1)])
def test_deepspeed(run, stage, rank):
    launcher = ["deepspeed", "--num_gpus", "4"] if stage == 2 else ["torchrun", "--nproc-per-node", "4"]
    done = succeeded(run([*launcher, *LLAVA, "--zero", str(stage)], options=world(4, "--rank", str(rank))))
    assert done.report["script"]["stopped_after_steps"] == 3 and len(done.report["steps"]) == 3  # ZeRO-3 steps its optimizer once per group
    whole = 529_000_000  # parameters, about
    assert 0.9 * 12 * whole / 4 < done.category("optimizer_state") < 1.1 * 12 * whole / 4
    assert (done.category("parameters") < 1.2 * whole) == (stage == 3)


@pytest.mark.slow("offloaded optimizer states")
def test_offload_moves_states_to_the_host(run):
    kept, moved = (succeeded(run([PYTHON, *LLAVA, "--zero", "2", *more], options=world(4))) for more in ((), ("--offload",)))
    assert moved.category("optimizer_state") < 1 << 20 < kept.category("optimizer_state")
    assert moved.report["host"]["pinned_bytes"] > kept.report["host"]["pinned_bytes"]
    assert moved.report["host"]["pinned_bytes"] + moved.report["host"]["pageable_bytes"] > kept.category("optimizer_state")


@pytest.mark.slow("tensor and sequence parallelism in an example")
@pytest.mark.parametrize("sequence_parallel", [[], ["--sequence-parallel"]], ids=["plain", "sequence"])
def test_tensor_parallel(run, sequence_parallel):
    done = [run([PYTHON, *TENSOR_PARALLEL, *sequence_parallel], options=world(ranks)) for ranks in (2, 4)]
    if "aten.alias.default does not have a sharding strategy" in done[0].errors:
        pytest.skip("this torch cannot take all of a shared tensor (2.9.1: torch/distributed/tensor/_ops/_tensor_ops.py; 2.11.0 has aten.alias there)")
    whole, part = (succeeded(one).category("parameters") for one in done)
    assert whole / 2 <= part < whole / 2 + (4 << 20)  # norms are whole on every rank


@pytest.mark.slow("groups split off others")
def test_a_mesh_whose_groups_are_split_off(run_code):
    """With a device named at the start, groups are made by ncclCommSplit."""
    done = run_code(
        """
import os, torch, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
torch.cuda.set_device(device)
dist.init_process_group("nccl", device_id=device)
mesh = init_device_mesh("cuda", (2, 3), mesh_dim_names=("dp", "tp"))
sums = []
for name in ("dp", "tp"):
    x = torch.full((1,), 1, device="cuda")
    dist.all_reduce(x, group=mesh[name].get_group())
    sums.append(x.item())
print(mesh["dp"].get_local_rank(), mesh["tp"].get_local_rank(), sums)
""",
        options=("--gpus", "6", "--rank", "5"),
    )
    assert done.exit_code == 0 and "1 2 [2, 3]" in done.output, done.errors[-2000:]


@pytest.mark.slow("context parallelism by each rotation")
@pytest.mark.parametrize("method", ["allgather", "alltoall"])
def test_context_parallel(run, method):
    two, four = (succeeded(run([PYTHON, *CONTEXT_PARALLEL, "--rotate", method], options=world(ranks, "--rank", "1"))) for ranks in (2, 4))
    assert two.category("parameters") == four.category("parameters")  # each rank has the whole model, and a part of the tokens
    left = [next(phase for phase in done.report["steps"][1]["phases"] if phase["phase"] == "forward")["end_allocated_bytes"] for done in (two, four)]
    assert left[0] - left[1] > 4 * 512 * 32000  # 512 tokens fewer, with their logits in fp32


@pytest.mark.slow("expert parallelism of Mixtral")
def test_experts_are_shared(run):
    if major_version_of("transformers") < 5:
        pytest.skip("transformers before 5 cannot share out a model that it has not loaded")
    whole, half, eighth = (succeeded(run(torchrun(ranks, EXPERTS), options=world(ranks))) for ranks in (1, 2, 8))
    split = 8 * 3 * 1024 * 3584 * 2  # the experts of one layer, in bytes
    if whole.report["versions"]["transformers"] >= "5.21":
        split += 2 * 32000 * 1024 * 2 + 2 * (1024 + 512) * 1024 * 2  # embedding, head and attention, too
    for ranks, done in ((2, half), (8, eighth)):
        gone = whole.category("parameters") - done.category("parameters")
        assert abs(gone - split * (ranks - 1) // ranks) < 4 << 20, gone  # and blocks that were not split


# Ranks that differ


@pytest.mark.slow("each rank of a pipeline")
def test_every_rank_of_a_pipeline(run):
    done = succeeded(run([PYTHON, *PIPELINE], options=world(4, "--all-ranks"), timeout=600))
    rows = done.report["ranks"]
    assert [row["rank"] for row in rows] == [0, 1, 2, 3] and all(row["fits"] for row in rows)
    peaks = [row["peak"]["allocated_bytes"] for row in rows]
    assert peaks[3] == max(peaks) == done.report["peak"]["allocated_bytes"]  # the output layer and the loss
    assert len(set(peaks)) >= 3  # the first holds the embedding
    assert done.report["rank"]["rank"] == 3


UNTIL_SETTLED = """
import os, sys, torch, torch.distributed as dist
rank = int(os.environ["RANK"])
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
model = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
kept, told = [], torch.zeros(1, dtype=torch.long, device="cuda")
for step in range(1, 30):
    if rank == 0:
        dist.send(torch.tensor([min(step, 5)], device="cuda"), 1)
    else:
        dist.recv(told, 0)
        kept = [torch.empty(int(told), 1 << 20, device="cuda")]   # of this rank the peak settles later
    model(torch.zeros(4, 64, device="cuda")).sum().backward()
    optimizer.step()
    with open(f"{sys.argv[1]}-{rank}", "w") as file:
        file.write(str(step))
"""


@pytest.mark.slow("ranks of `--all-ranks` stop together")
@pytest.mark.parametrize("which", [("--rank", "1"), ("--all-ranks",)], ids=["one", "all"])
def test_ranks_stop_after_the_same_step(run_code, tmp_path, which):
    """The first rank's own peak has settled after three steps, and it has sent what the other needs until then and no more."""
    done = succeeded(run_code(UNTIL_SETTLED, tmp_path / "step", options=("--gpus", "2", *which)))
    stopped = done.report["script"]["stopped_after_steps"]
    assert done.report["rank"]["rank"] == 1 and stopped >= 7
    assert [(tmp_path / f"step-{rank}").read_text() for rank in (0, 1)] == [str(stopped - 1)] * 2  # the step that was counted last is not over for the program


@pytest.mark.slow("a pipeline that never steps")
def test_a_pipeline_without_steps(run):
    succeeded(run([PYTHON, *PIPELINE], options=("--gpus", "4", "--rank", "3"), timeout=600))


@pytest.mark.slow("stages by turns")
def test_stages_in_turn(run):
    """The last stage of the interleaved schedule tells the first of the next round its shapes: ranks await each other in a circle."""
    succeeded(run([PYTHON, *PIPELINE, "--schedule", "interleaved"], options=world(2, "--rank", "0")))


@pytest.mark.slow("pipeline stages by schedule and family", keep=["llama-1-schedule1"])
@pytest.mark.parametrize("family, rank, schedule", [("llama", 0, ["1f1b"]), ("llama", 1, ["1f1b"]), ("llama", 1, ["looped_bfs", 2]), ("granite", 0, ["1f1b"]), ("glm", 1, ["1f1b"]), ("smollm3", 1, ["looped_bfs", 2])])
def test_stages_are_as_predicted(run, tmp_path, family, rank, schedule):
    """The program that the second engine means, on its own."""
    config = tmp_path / "config.json"
    config.write_text(
        json.dumps(
            {
                "model_type": family,
                "hidden_size": 128,
                "intermediate_size": 344,
                "num_hidden_layers": 5,
                "num_attention_heads": 4,
                "num_key_value_heads": 2,
                "vocab_size": 4096,
                "tie_word_embeddings": False,
                "pad_token_id": 0,
                **({"head_dim": 32} if family == "glm" else {}),
            }
        )
    )
    name, stages = schedule[0], str((schedule[1:] or [1])[0])
    words = ["--batch", "16", "--seq", "64", "--gpus", "2", "--rank", str(rank), "--pp-degree", "2", "--pp-microbatches", "8", "--pp-schedule", name, "--pp-stages-per-rank", stages]
    predicted = subprocess.run([TIDEMARK, "predict", config, *words, "--gpu", "a100-80gb", "--json", "-"], capture_output=True, text=True)
    if predicted.returncode == 3 and major_version_of("transformers") < 5:
        pytest.skip(predicted.stderr)  # it does not have the family
    report = json.loads(predicted.stdout)
    skip_unless_compared(report)
    program = [PYTHON, EXAMPLES / "pipeline_transformers.py", config, "--sequence", "64", "--schedule", name, "--stages-per-rank", stages]
    done = succeeded(run(program, options=world(2, "--rank", str(rank), "--event-order", "instant")))
    for kind in ("allocated_bytes", "reserved_bytes"):
        assert report["peak"][kind] == done.report["peak"][kind]


FULL_PLAN = {
    **{f"model.layers.*.{name}": "colwise" for name in ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj")},
    **{f"model.layers.*.{name}": "rowwise" for name in ("self_attn.o_proj", "mlp.down_proj")},
    "model.embed_tokens": "rowwise",
    "lm_head": "colwise",
}


@pytest.mark.slow("three-dimensional meshes")
@pytest.mark.parametrize("pp, copies, tp, rank", [(1, 2, 2, 7), (2, 1, 2, 7), (2, 2, 1, 1)])
def test_meshes_are_as_predicted(run, tmp_path, pp, copies, tp, rank):
    """Eight GPUs in up to four dimensions."""
    config, spec = tmp_path / "config.json", tmp_path / "spec.json"
    config.write_text(json.dumps({"model_type": "llama", "hidden_size": 128, "intermediate_size": 344, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 4096, "tie_word_embeddings": False}))
    options = {"--pp": pp, "--replicate": copies, "--tp": tp, "--sequence": 64}
    program = [PYTHON, EXAMPLES / "mesh_transformers.py", config, *(str(word) for item in options.items() for word in item)]
    done = run(program, options=world(8, "--rank", str(rank), "--event-order", "instant"))
    if "Can't detach views in-place" in done.errors:
        pytest.skip("this torch's last stage ends so (2.6: torch/distributed/pipelining/stage.py, backward_one_chunk)")
    succeeded(done)
    spec.write_text(
        json.dumps(
            {
                "model": str(config),
                "batch": 16,
                "seq": 64,
                "dtype": "fp32",
                "gpu": "a100-80gb",
                "gpus": 8,
                "rank": rank,
                "parallel": "fsdp2",
                "fsdp2": {"param_dtype": "bf16", "reduce_dtype": "fp32", "data_parallel_replicate_degree": copies},
                **({"tp": {"degree": tp, "plan": FULL_PLAN}} if tp > 1 else {}),
                **({"pp": {"degree": pp, "microbatches": 8}} if pp > 1 else {}),
            }
        )
    )
    predicted = subprocess.run([TIDEMARK, "predict", "--spec", spec, "--json", "-"], capture_output=True, text=True, check=True)
    report = json.loads(predicted.stdout)
    skip_unless_compared(report)
    for kind in ("allocated_bytes", "reserved_bytes"):
        assert report["peak"][kind] == done.report["peak"][kind]


# What other ranks say

SETUP = """
import os, torch, torch.distributed as dist
rank = int(os.environ["RANK"])
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group({backend!r})
torch.zeros(1, device="cuda")
"""


@pytest.mark.slow("objects sent between ranks, by each backend")
@pytest.mark.parametrize("backend", ["nccl", "cpu:gloo,cuda:nccl"])
def test_objects_from_another_rank(run_code, backend):
    code = (
        SETUP.format(backend=backend)
        + """
told = [{"layers": 7, "from": rank}] if rank == 0 else [None]
dist.broadcast_object_list(told, src=0)
number = torch.tensor([41 if rank == 0 else 0], device="cuda")
dist.broadcast(number, src=0)
on_host = torch.tensor([rank + 5])
if "gloo" in dist.get_backend_config():
    dist.broadcast(on_host, src=0)
everyone = [None] * dist.get_world_size()
dist.all_gather_object(everyone, told[0])
print(told, number.item() + 1, on_host.item(), len(everyone), everyone[2])
"""
    )
    done = run_code(code, options=("--gpus", "4", "--rank", "3"))
    assert done.exit_code == 0, done.errors[-2000:]
    assert f"[{{'layers': 7, 'from': 0}}] 42 {5 if 'gloo' in backend else 8} 4 {{'layers': 7, 'from': 0}}" in done.output


@pytest.mark.slow("messages in order between ranks")
def test_messages_belong_together_by_their_order(run_code):
    """What is sent as whole numbers may be received as floats (torch 2.9.1: pipelining/stage.py, _get_init_p2p_neighbors_ops)."""
    done = run_code(
        SETUP.format(backend="nccl")
        + """
numbers, reals = torch.tensor([7], device="cuda"), torch.zeros(1, device="cuda")
for told in ((numbers, reals), (numbers + 1, numbers), (reals, reals), (numbers + 2, numbers)):
    if rank == 0:
        dist.send(told[0], dst=1)
    else:
        dist.recv(told[1], src=0)
        print("told", int(numbers))
""",
        options=("--gpus", "2", "--rank", "1"),
    )
    assert done.exit_code == 0, done.errors[-2000:]
    assert [line for line in done.output.splitlines() if line.startswith("told")][-4:] == ["told 7", "told 8", "told 8", "told 9"]


INTERFACE = (
    SETUP.format(backend="cpu:gloo,cuda:nccl")
    + """
import datetime, inspect, re
from torch.distributed import distributed_c10d as c10d

CPU = torch.device("cpu")
VALUES = {"timedelta": datetime.timedelta(seconds=5), "int": 0, "bool": False, "str": "x", "device": CPU}

def lone_backend():
    return c10d.ProcessGroupGloo(dist.HashStore(), 0, 1, datetime.timedelta(seconds=5))

def lone_group():
    group = c10d.ProcessGroup(dist.PrefixStore("mine", dist.HashStore()), 0, 1)
    group._set_default_backend(c10d.ProcessGroup.BackendType.GLOO)
    group._register_backend(CPU, c10d.ProcessGroup.BackendType.GLOO, lone_backend())
    return group

def arguments(method):
    signature = re.search(r"[(]self: [^,)]*(?:, )?(.*)[)] ->", (method.__doc__ or "").splitlines()[0] if method.__doc__ else "")
    found = []
    for one in filter(None, re.split(r", (?=[a-z_]+:)", signature[1] if signature else "")):
        kind = re.sub(r"[^a-z].*", "", one.split(": ")[1].split(".")[-1])
        if "=" in one:
            break
        if kind not in VALUES:
            return None
        found.append(VALUES[kind])
    return found

def answers(make, ours):
    real = type(make())
    for name in sorted(dir(real)):
        method = inspect.getattr_static(real, name)
        if name.startswith("__") or not callable(method) or isinstance(method, (type, staticmethod)) or "Tensor" in (method.__doc__ or "") or name in ("abort", "shutdown"):
            continue
        given = arguments(method)
        try:
            getattr(make(), name)(*(given or ()))
        except Exception:
            continue   # gloo itself would not answer this
        getattr(ours, name)(*(given or ()))
        print("answered", name)

world = dist.group.WORLD
gloo = dist.new_group(backend="gloo")
answers(lone_backend, world._get_backend(CPU))
answers(lone_group, gloo)
c10d._set_pg_timeout(datetime.timedelta(seconds=5))
c10d._set_pg_timeout(datetime.timedelta(seconds=5), gloo)
dist.monitored_barrier(gloo)
dist.barrier(gloo)
print(world.rank(), world.size(), gloo.rank(), gloo.size())
for group in (gloo, world):
    for backend in {world._get_backend(CPU), world._get_backend(torch.device("cuda"))} if group is world else {gloo._get_backend(CPU)}:
        if hasattr(c10d.Backend, "shutdown"):   # not in torch 2.6
            backend.shutdown()
"""
)


@pytest.mark.slow("gloo on the host, answer by answer")
@pytest.mark.parametrize("python", PYTHONS, ids=PYTHON_NAMES)
def test_a_group_on_the_host_answers_what_gloo_answers(run_code, python):
    """Every method of the interface that moves no tensors, of the torch that is installed, and what torch.distributed itself calls."""
    done = run_code(INTERFACE, python=python, options=("--gpus", "4", "--rank", "3"))
    assert done.exit_code == 0, done.errors[-2000:]
    answered = {line.split()[1] for line in done.output.splitlines() if line.startswith("answered ")}
    assert {"_set_default_timeout", "_get_sequence_number_for_group", "rank", "size", "name"} <= answered and "\n3 4 3 4\n" in done.output


@pytest.mark.slow("groups of some of the ranks")
def test_groups_of_some_ranks(run_code):
    done = run_code(
        SETUP.format(backend="nccl")
        + """
from torch.distributed.device_mesh import init_device_mesh
mesh = init_device_mesh("cuda", (2, 3), mesh_dim_names=("data", "tensor"))
for name in ("data", "tensor"):
    group = mesh.get_group(name)
    x = torch.ones(1, dtype=torch.long, device="cuda")
    dist.all_reduce(x, group=group)
    told = [name if dist.get_rank(group) == 0 else None]
    dist.broadcast_object_list(told, src=dist.get_process_group_ranks(group)[0], group=group)
    print(name, dist.get_rank(group), x.item(), told)
""",
        options=("--gpus", "6", "--rank", "4"),
    )
    assert done.exit_code == 0, done.errors[-2000:]
    assert "data 1 2 ['data']" in done.output and "tensor 1 3 ['tensor']" in done.output


def test_data_that_never_comes_is_refused(run_code):
    """Rank 0 would answer only after it had rank 1's answer."""
    done = run_code(
        SETUP.format(backend="nccl")
        + """
length = torch.zeros(1, dtype=torch.long, device="cuda")
dist.recv(length, src=1 - rank)
dist.send(length, dst=1 - rank)
""",
        options=("--gpus", "2"),
        timeout=900,
    )
    refused(done, 3, "rank 0 waits for whole numbers from rank 1")


def test_the_programs_own_talk_through_the_store_is_refused(run_code):
    done = run_code(SETUP.format(backend="nccl") + "dist.distributed_c10d._get_default_store().get('port of the other')", options=("--gpus", "2"), timeout=900)
    refused(done, 3, "port of the other")


def test_a_rank_on_anothers_card_is_refused(run_code):
    refused(run_code("import torch; torch.zeros(1, device='cuda')", options=("--gpus", "2", "--rank", "1")), 3, "used card 0", "its own is 1", "set_device")


# Launchers that start something else


def test_another_number_of_processes_is_refused(run):
    refused(run(torchrun(2, DDP), options=world(4)), 2, "starts 2 processes", "--gpus 2")


def test_another_world_is_refused(run_code):
    code = "import torch.distributed as dist\ndist.init_process_group('nccl', init_method='tcp://127.0.0.1:29502', rank=0, world_size=5)"
    refused(run_code(code, options=("--gpus", "2")), 2, "world of 5 ranks", "--gpus 5")


@pytest.mark.slow("launchers of several nodes are refused", keep=["--nnodes=2"])
@pytest.mark.parametrize("option", ["--nnodes=2", "--node-rank=1"])
def test_several_nodes_are_not_launched(run, option):
    refused(run(["torchrun", option, "--nproc-per-node", "2", *DDP], options=world(4, "--gpus-per-node", "2")), 2, option, "leave out")


def test_other_ranks_leave_before_the_program_begins(run, tmp_path):
    begun = tmp_path / "begun"
    begun.mkdir()
    program = tmp_path / "program.py"
    program.write_text(f"import os; open(os.path.join({str(begun)!r}, os.environ['RANK']), 'w'); import torch; torch.zeros(1, device='cuda:1')")
    succeeded(run(torchrun(3, [program]), options=("--gpus", "3", "--rank", "1")))
    assert [path.name for path in begun.iterdir()] == ["1"]
