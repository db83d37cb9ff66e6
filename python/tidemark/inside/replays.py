"""The recorded requests once more through PyTorch's own allocator (virtual_gpu/replay), on cards that differ from the one of the run.

They differ in the order of addresses and, if blocks were used on several streams, in when events complete.  What the program did is as
recorded: a program that asks for events itself and does something else then is not followed.
"""

import ctypes
import os
import struct
import subprocess

from . import door, losses, world

UPWARDS, DOWNWARDS = "upwards", "downwards"


def answers(run_dir, events, before=None):
    """{name of a card: what the replay printed}: `allocated_peak reserved_peak`, `out of memory`, or nothing.  `before`: where `events` are not all of
    the run's, of each of those how many that are here come before it."""
    if door.replay_command() is None:
        losses.note(*door.read_without(door.library().folder, "replay"))
        return {}
    recorded, calls = os.path.join(run_dir, "events.bin"), os.path.join(run_dir, "streams.bin")
    with open(recorded, "wb") as file:
        file.write(events.raw)
    found = {DOWNWARDS: _replay(recorded, _card(run_dir, DOWNWARDS))}
    if blocks_used_elsewhere():
        with open(calls, "wb") as file:
            file.write(_stream_calls() if before is None else _moved(_stream_calls(), before))
        for order in ("instant", "late"):
            for way in (UPWARDS, DOWNWARDS):
                found[f"{way}, {order}"] = _replay(recorded, _card(run_dir, way), calls, order)
        os.unlink(calls)
    os.unlink(recorded)
    return found


def blocks_used_elsewhere():
    """How many freed blocks had to wait for another stream than their own."""
    return door.library().tidemark_blocks_used_elsewhere()


def _stream_calls():
    library = door.library()
    count = library.tidemark_stream_call_count()
    return ctypes.string_at(library.tidemark_stream_calls(), count * _CALL.size)


def _moved(calls, before):
    """Of what streams were asked between events that are not all there."""
    return b"".join(_CALL.pack(before[position], *rest) for position, *rest in _CALL.iter_unpack(calls))


_CALL = struct.Struct("<QQQQII")  # struct StreamCall, stream_log.h


def _card(run_dir, way):
    """A file that describes the run's card, but for its order of addresses."""
    with open(os.environ["TIDEMARK_CARD"]) as file:
        lines = [line for line in file if not line.startswith(("addresses_descend=", "devices="))]
    path = os.path.join(run_dir, f"card.{way}")
    with open(path, "w") as file:
        file.writelines(lines + [f"addresses_descend={int(way == DOWNWARDS)}\n"])
    return path


def replay(recorded, run_dir, way, *more):
    """What the replay of a file of events prints, with addresses that go `way`."""
    return _replay(recorded, _card(run_dir, way), *more)


def _replay(recorded, card, calls=None, order="late"):
    import torch

    fraction = torch.cuda.get_per_process_memory_fraction(world.local_rank) if hasattr(torch.cuda, "get_per_process_memory_fraction") else 1.0
    command = door.replay_command() + [recorded, str(fraction)] + ([calls] if calls else [])
    return subprocess.run(command, env={**os.environ, "TIDEMARK_CARD": card, "TIDEMARK_CLOCK": order}, capture_output=True, text=True).stdout.strip()
