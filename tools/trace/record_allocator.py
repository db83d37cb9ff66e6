#!/usr/bin/env python3
"""Records PyTorch's caching allocator on the virtual GPU: the recordings of tests/golden/allocator.

usage: record_allocator.py --tidemark TIDEMARK --python PYTHON --out FOLDER [--only NAME ...]

PYTHON has torch (and transformers, for the training runs).  Each case (allocator_cases.py) runs in a process of its own and writes NAME.txt.gz, in the format of docs/design/allocator.md.
"""

import argparse
import ctypes
import functools
import gzip
import io
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROW = struct.Struct("<7q")  # struct Row, allocation_log.cpp
TOTAL_BYTES, CONTEXT_BYTES = 85_045_215_232, 0


class Log:
    """The recorded program's side: what the allocator did, and what it was asked that its trace does not show."""

    def __init__(self, library):
        self.library = ctypes.CDLL(library)
        self.library.allocation_log_mark.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
        self.library.allocation_log_count.restype = ctypes.c_size_t
        self.library.allocation_log_rows.restype = ctypes.c_void_p
        self.messages = {}  # row of an out-of-memory event: its message
        self.library.allocation_log_start()

    def mark(self, letter, address=0, stream=0):
        self.library.allocation_log_mark(ord(letter), address, stream)

    def message(self, text):
        """The text of the latest out-of-memory error."""
        rows = self.rows()
        self.messages[max(i for i, row in enumerate(rows) if row[0] == ord("o"))] = text

    def rows(self):
        count = self.library.allocation_log_count()
        return list(ROW.iter_unpack(ctypes.string_at(self.library.allocation_log_rows(), count * ROW.size)))


def write(log, case, path):
    """The recording: a header, then one line per event; addresses relative to the first segment, streams by rank, totals as changes."""
    import torch

    log.mark(".")
    rows = log.rows()
    streams = {handle: rank for rank, handle in enumerate(sorted({row[3] for row in rows} | {0}))}
    base = next((row[1] for row in rows if row[0] in map(ord, "+m")), 0)
    text = io.StringIO()
    for key, value in header(case, torch.__version__.split("+")[0]):
        text.write(f"{key} {value}\n")
    text.write("events\n")
    before = (0, 0, 0)
    for i, (letter, address, size, stream, *totals) in enumerate(rows):
        if chr(letter) not in "oe.":
            address -= base
        changes = [now - then for now, then in zip(totals, before)]
        before = totals
        while changes and changes[-1] == 0:
            changes.pop()
        text.write(" ".join(map(str, [chr(letter), address, size, streams[stream], *changes])) + "\n")
        if i in log.messages:
            text.write(f"t {log.messages[i]}\n")
    with open(path, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", compresslevel=9, mtime=0, filename="") as packed:
        packed.write(text.getvalue().encode())
    print(f"{path.name}: {len(rows)} events, {path.stat().st_size} bytes", flush=True)


def header(case, version):
    card = case.card
    return [
        ("tidemark_allocations", 1),
        ("torch", version),
        ("settings", case.settings or "-"),
        ("total_bytes", card.get("total_bytes", TOTAL_BYTES)),
        ("unavailable_bytes", card.get("driver_reserved_bytes", 0)),
        ("context_bytes", card.get("context_bytes", CONTEXT_BYTES)),
        ("memory_fraction", case.fraction),
        ("addresses", "descending" if card.get("addresses_descend") else "ascending"),
        ("work_on_streams", "unfinished" if case.never_ready else "finished"),
    ]


def record_here(name, out):
    """Runs in the recorded process."""
    import allocator_cases
    import torch

    case = allocator_cases.CASES[name]
    torch.cuda.init()
    if case.fraction < 1:
        torch.cuda.set_per_process_memory_fraction(case.fraction, 0)
    log = Log(os.environ["TIDEMARK_ALLOCATION_LOG"])
    case.run(log)
    write(log, case, pathlib.Path(out) / f"{name}.txt.gz")
    sys.stdout.flush()
    os._exit(0)


def build(python, folder):
    """Compiles the two small libraries against the torch of `python`; the version of CUDA that it wants of a card."""
    code = "import torch, os; print(os.path.dirname(torch.__file__), int(torch._C._GLIBCXX_USE_CXX11_ABI), torch.version.cuda)"
    torch_dir, abi, cuda = subprocess.run([python, "-c", code], capture_output=True, text=True, env=stand_in_environment()).stdout.split()
    headers, extension = HERE.parent.parent / "virtual_gpu/torch_extension/cuda_headers", folders_of(ARGUMENTS.tidemark, python)[1]
    if not pathlib.Path(extension, "tidemark_cuda_names.h").exists():  # torch_extension.cpp, write_cuda_names
        sys.exit(f"{extension} was made by an older Tidemark: remove it, and run `tidemark prepare --python {python}`")
    subprocess.run(
        [
            "g++",
            "-std=c++20",
            "-O1",
            "-shared",
            "-fPIC",
            f"-D_GLIBCXX_USE_CXX11_ABI={abi}",
            f"-I{headers}",
            f"-I{torch_dir}/include",
            f"-I{extension}",
            str(HERE / "allocation_log.cpp"),
            "-o",
            f"{folder}/allocation_log.so",
            f"-L{torch_dir}/lib",
            "-lc10_cuda",
            "-lc10",
        ],
        check=True,
    )
    subprocess.run(["g++", "-shared", "-fPIC", str(HERE / "never_ready.cpp"), "-o", f"{folder}/never_ready.so"], check=True)
    return dict(zip(("cuda_major", "cuda_minor"), cuda.split(".")))


@functools.cache
def folders_of(tidemark, python):
    """Where libtidemark_gpu.so and libtidemark_stubs.so for that torch lie, and what was compiled for it."""
    code = "import os; print(os.environ['LD_LIBRARY_PATH'].split(':')[0], os.environ['TIDEMARK_TORCH_EXTENSION'], sep='\\n')"
    return subprocess.run([tidemark, "run", "--gpu", "h200", "--quiet", "--", python, "-c", code], capture_output=True, text=True).stdout.split("\n")[:2]


def stand_in_environment(first=None):
    stand_ins, _ = folders_of(ARGUMENTS.tidemark, ARGUMENTS.python)
    libraries = ([first] if first else []) + [f"{stand_ins}/libtidemark_gpu.so", f"{stand_ins}/libtidemark_stubs.so"]
    return {**os.environ, "LD_PRELOAD": ":".join(libraries), "LD_LIBRARY_PATH": stand_ins, "TRITON_LIBCUDA_PATH": stand_ins}


def record(case_name, case, folder):
    card = pathlib.Path(folder, "card")
    card.write_text("".join(f"{key}={value}\n" for key, value in {"total_bytes": TOTAL_BYTES, **ARGUMENTS.card, **case.card}.items()))
    environment = stand_in_environment(f"{folder}/never_ready.so" if case.never_ready else None)
    environment |= {"TIDEMARK_CARD": str(card), "TIDEMARK_ALLOCATION_LOG": f"{folder}/allocation_log.so"}
    if case.settings:
        environment["PYTORCH_CUDA_ALLOC_CONF"] = case.settings
    command = [ARGUMENTS.python, str(HERE / "record_allocator.py"), "--here", case_name, "--out", ARGUMENTS.out]
    return subprocess.run(command, env=environment).returncode == 0


def main():
    import allocator_cases

    wanted = ARGUMENTS.only or [name for name, case in allocator_cases.CASES.items() if case.torch == ARGUMENTS.torch]
    os.makedirs(ARGUMENTS.out, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        ARGUMENTS.card = {**build(ARGUMENTS.python, folder), **ARGUMENTS.card}
        failed = [name for name in wanted if not record(name, allocator_cases.CASES[name], folder)]
    sys.exit(f"not recorded: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--tidemark")
    parser.add_argument("--out", required=True)
    parser.add_argument("--torch", default="2.11", help="record the cases of this release (default: %(default)s)")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--card", type=lambda text: dict(pair.split("=") for pair in text.split(",")), default={}, help="further keys of the card")
    parser.add_argument("--here", help=argparse.SUPPRESS)
    ARGUMENTS = parser.parse_args()
    sys.path.insert(0, str(HERE))
    if ARGUMENTS.here:
        record_here(ARGUMENTS.here, ARGUMENTS.out)
    main()
