"""The C++ side by ctypes: the parts of the extension (virtual_gpu/torch_extension, one library each) and the stand-ins that are preloaded.

A part that is not there, since this torch does not compile or load it, is silent: its functions do nothing and answer zero.
"""

import ctypes
import os
import sys
import weakref

from . import losses

_PARTS = {  # in the order of loading: a part may use those before it
    "assumptions": {
        "tidemark_assumptions": (ctypes.c_char_p, []),
        "tidemark_read_frames_as_they_lie": (ctypes.c_bool, []),
    },
    "events": {
        "tidemark_start_observing": (ctypes.c_bool, [ctypes.c_int]),
        "tidemark_module_id": (ctypes.c_uint32, [ctypes.c_char_p]),
        "tidemark_enter_module": (ctypes.c_uint32, [ctypes.c_uint32]),
        "tidemark_set_phase": (None, [ctypes.c_int]),
        "tidemark_event_count": (ctypes.c_size_t, []),
        "tidemark_events": (ctypes.c_void_p, []),
        "tidemark_events_truncated": (ctypes.c_bool, []),
        "tidemark_mark": (None, [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]),
        "tidemark_note_empty_cache": (None, []),
        "tidemark_memory_now": (None, [ctypes.c_void_p] * 3),
        "tidemark_stream_call_count": (ctypes.c_size_t, []),
        "tidemark_stream_calls": (ctypes.c_void_p, []),
        "tidemark_blocks_used_elsewhere": (ctypes.c_size_t, []),
        "tidemark_text_count": (ctypes.c_uint32, [ctypes.c_int]),
        "tidemark_text": (ctypes.c_char_p, [ctypes.c_int, ctypes.c_uint32]),
    },
    "blame": {
        "tidemark_start_blaming": (None, []),
    },
    "integers": {
        "tidemark_start_true_integers": (ctypes.c_bool, []),
        "tidemark_keep_integers_true": (None, [ctypes.c_bool]),
        "tidemark_set_routing": (None, [ctypes.c_double]),
        "tidemark_generation_begins": (None, [ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_size_t]),
        "tidemark_generation_ends": (None, []),
    },
    "host_memory": {
        "tidemark_start_counting_host_memory": (None, []),
        "tidemark_host_memory_peak_bytes": (ctypes.c_int64, []),
    },
}
_NEEDS = {"blame": "events"}  # nothing to say of a part whose work would go nowhere


class _Library:
    """The functions of all parts, as attributes."""

    def __init__(self, folder):
        self.folder = folder
        self.present = set()
        for part, functions in _PARTS.items():
            self._load(part, functions)

    def _load(self, part, functions):
        self.silence(part)
        if _NEEDS.get(part, part) not in self.present | {part}:
            return
        without, why = read_without(self.folder, part)
        try:
            if why:
                raise OSError(why)
            library = ctypes.PyDLL(os.path.join(self.folder, part + ".so"), mode=ctypes.RTLD_GLOBAL)  # `PyDLL`: calls are short and keep the GIL
            for name, (result, arguments) in functions.items():
                function = getattr(library, name)
                function.restype, function.argtypes = result, arguments
                setattr(self, name, function)
        except (OSError, AttributeError) as error:
            self.silence(part)
            losses.note(without, str(error))
        else:
            self.present.add(part)

    def silence(self, part):
        """From here on its functions do nothing."""
        self.present.discard(part)
        for name, (result, _) in _PARTS[part].items():
            setattr(self, name, _nothing(result))


def _nothing(result):
    answer = None if result is None else result().value or (b"" if result is ctypes.c_char_p else 0)
    return lambda *arguments: answer


def read_without(folder, part):
    """(What a run does without the part, why it was not made or ""), as the launcher wrote them (apps/cli/torch_extension.h)."""
    try:
        with open(os.path.join(folder, part + ".without")) as file:
            without, why, *_ = file.read().split("\n") + [""]
        return without, why
    except OSError as error:
        return f"the part {part} of Tidemark is not there", str(error)


_library = None


def library():
    """Loaded once."""
    global _library
    if _library is None:
        _library = _Library(os.environ.get("TIDEMARK_TORCH_EXTENSION", ""))
    return _library


def has(part):
    return part in library().present


def lose(part, why):
    """What is loaded does not work here."""
    library().silence(part)
    losses.note(read_without(library().folder, part)[0], why)


_now = (ctypes.c_int64 * 3)()


def memory_now():
    """(allocated bytes, the most so far, the most reserved so far) of this rank's card."""
    start = ctypes.addressof(_now)
    library().tidemark_memory_now(start, start + 8, start + 16)
    return tuple(_now)


def host_peak_bytes(kind):
    """The most that was `pinned` or `managed` at one time (virtual_gpu/cudart_memory.cpp)."""
    function = getattr(ctypes.CDLL(None), f"tidemark_{kind}_peak_bytes")
    function.restype = ctypes.c_int64
    return function()


def device_peak_bytes(device):
    """The most that the card's memory held at one time, without what libraries have taken (virtual_gpu/device_memory.cpp)."""
    function = ctypes.CDLL(None).tidemark_device_peak_bytes
    function.restype = ctypes.c_int64
    return function(device)


def host_pages(size):
    """A buffer of zeros that takes memory only where it is written, and none any more when nobody holds it (virtual_gpu/host_pages.cpp)."""
    library = ctypes.CDLL(None)
    library.tidemark_take_host_pages.restype = ctypes.c_void_p
    start = library.tidemark_take_host_pages(ctypes.c_size_t(size))
    if not start:
        raise MemoryError(f"the host grants no {size:,} bytes of addresses")
    buffer = (ctypes.c_char * size).from_address(start)
    weakref.finalize(buffer, library.tidemark_give_back_host_pages, ctypes.c_void_p(start)).atexit = False  # tensors may outlive Python's own exit
    return buffer


def event_answers():
    """How often completion was asked for, and how often the answer was no (virtual_gpu/device_clock.cpp)."""
    counts = (ctypes.c_int64 * 2)()
    ctypes.CDLL(None).tidemark_event_answers(counts)
    return tuple(counts)


def communicators():
    """[(name, ranks of the world, whether it had a collective, number of peers)] of this process (virtual_gpu/communicators.cpp)."""
    function = ctypes.CDLL(None).tidemark_communicators
    function.restype = ctypes.c_char_p
    rows = [line.split("\t") for line in function().decode(errors="replace").splitlines()]
    return [(name, [int(rank) for rank in ranks.split(",")], collective == "1", int(peers)) for name, ranks, collective, peers in rows]


_CALL_REPLAY = "words = [word.encode() for word in sys.argv[1:]]; ctypes.CDLL(sys.argv[1]).tidemark_replay(len(words), (ctypes.c_char_p * len(words))(*words))"


def replay_command():
    """Runs virtual_gpu/replay, built beside the parts, in a bare Python: the words before its own; None if it is not there."""
    library_path = os.path.join(library().folder, "replay.so")
    return [sys.executable, "-I", "-S", "-c", f"import ctypes, sys; {_CALL_REPLAY}", library_path] if os.path.exists(library_path) else None
