"""`--gpus N`: which rank of the world this process is, decided when its interpreter starts.

A launcher (torchrun, deepspeed, accelerate launch) starts a worker per card of one node.  The worker of the rank that was asked for
goes on alone; the others leave before they import anything.  A program that no launcher started is told that it is that rank.
"""

import os
import sys

LAUNCHERS = {"torchrun", "deepspeed", "ds", "accelerate", "accelerate-launch"}
LAUNCHER_MODULES = ("torch.distributed.run", "torch.distributed.launch", "deepspeed.launcher", "accelerate.commands")
ONE_NODE = {"nnodes": "1", "node_rank": "0", "num_nodes": "1", "num_machines": "1", "machine_rank": "0"}  # options of the launchers above, written with _ or -

ranks = int(os.environ.get("TIDEMARK_RANKS", "1"))
rank = int(os.environ.get("TIDEMARK_RANK", "0"))
ranks_per_node = int(os.environ.get("TIDEMARK_RANKS_PER_NODE", str(ranks)))
local_rank = rank % ranks_per_node


def settle():
    """Call once, before anything else is imported."""
    global ranks
    launcher = _launcher_of(sys.orig_argv[1:])
    if launcher:
        os.environ.setdefault("PET_MASTER_PORT", str(_free_port()))  # torchrun's --master-port (torch/distributed/run.py): 29500 may be taken
    if ranks == 1:
        return
    if launcher:
        _refuse_several_nodes(launcher, sys.orig_argv[1:])
        ranks = 1  # a launcher is no rank
    elif "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        _be_a_worker(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
    else:
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "29500")
        _tell_the_program()


def refuse(message, hint="", exit_code=3):
    """Ends this process; the launcher prints `message` and ends with `exit_code`.  Status 0, so that torchrun has nothing to add."""
    with open(os.path.join(os.environ["TIDEMARK_RUN_DIR"], "refusal"), "w") as file:
        file.write(f"{exit_code}\n{message}\n{hint}\n")
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(0)


def _launcher_of(words):
    """The launcher that this interpreter runs, or None: `python …/torchrun …`, `python -u -m torch.distributed.run …`."""
    for i, word in enumerate(words):
        if word[0:1] == "-" and word[1:].isalpha() and word[-1] == "m":
            module = words[i + 1] if i + 1 < len(words) else ""
            return module if module.startswith(LAUNCHER_MODULES) else None
        if word == "-c":
            return None
        if not word.startswith("-"):
            name = os.path.basename(word)
            return name if name in LAUNCHERS or word.replace(os.sep, ".").removesuffix(".py").endswith(LAUNCHER_MODULES) else None
    return None


def _free_port():
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def _refuse_several_nodes(launcher, words):
    for word, following in zip(words, [*words[1:], ""]):
        if word.endswith(".py"):
            return  # from here on they are the program's own options
        option, _, value = word.lstrip("-").partition("=")
        if word.startswith("-") and (value or following) != ONE_NODE.get(option.replace("-", "_"), value or following):
            refuse(f"{launcher} is asked for several nodes ({word}), and one process cannot be several", f"leave out {word}: the launcher starts the workers of one node, and --gpus-per-node says how many nodes there are", 2)


def _be_a_worker(launched_rank, launched_world):
    if launched_world == ranks:
        mine = launched_rank == rank
    elif launched_world == ranks_per_node:
        mine = launched_rank == local_rank
    else:
        asked = f"{ranks_per_node} per node" if ranks_per_node != ranks else str(ranks)
        refuse(f"the launcher starts {launched_world} processes, and --gpus asks for {asked}", f"write --gpus {launched_world}, or have the launcher start {ranks_per_node}", 2)
    if not mine:
        os._exit(0)
    if launched_world != ranks:
        _tell_the_program()


def _tell_the_program():
    os.environ.update(
        RANK=str(rank),
        WORLD_SIZE=str(ranks),
        LOCAL_RANK=str(local_rank),
        LOCAL_WORLD_SIZE=str(ranks_per_node),
        GROUP_RANK=str(rank // ranks_per_node),
        GROUP_WORLD_SIZE=str(ranks // ranks_per_node),
        ROLE_RANK=str(rank),
        ROLE_WORLD_SIZE=str(ranks),
    )
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # as torchrun sets it
