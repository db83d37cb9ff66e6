"""The C++ side (virtual_gpu/torch_extension/door.cpp, observer.cpp, replay.cpp), by ctypes."""

import ctypes
import os

_library = None

_SIGNATURES = {
    "tidemark_keep_integers_true": (None, [ctypes.c_bool]),
    "tidemark_start_observing": (None, [ctypes.c_int]),
    "tidemark_start_counting_host_memory": (None, []),
    "tidemark_host_memory_peak_bytes": (ctypes.c_int64, []),
    "tidemark_set_routing": (None, [ctypes.c_double]),
    "tidemark_assumptions": (ctypes.c_char_p, []),
    "tidemark_module_id": (ctypes.c_uint32, [ctypes.c_char_p]),
    "tidemark_enter_module": (ctypes.c_uint32, [ctypes.c_uint32]),
    "tidemark_set_phase": (None, [ctypes.c_int]),
    "tidemark_event_count": (ctypes.c_size_t, []),
    "tidemark_events": (ctypes.c_void_p, []),
    "tidemark_events_truncated": (ctypes.c_bool, []),
    "tidemark_mark": (None, [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]),
    "tidemark_note_empty_cache": (None, []),
    "tidemark_stream_call_count": (ctypes.c_size_t, []),
    "tidemark_stream_calls": (ctypes.c_void_p, []),
    "tidemark_blocks_used_elsewhere": (ctypes.c_size_t, []),
    "tidemark_text_count": (ctypes.c_uint32, [ctypes.c_int]),
    "tidemark_text": (ctypes.c_char_p, [ctypes.c_int, ctypes.c_uint32]),
}


def library():
    """The extension, loaded once; `PyDLL`, so calls are short and keep the GIL."""
    global _library
    if _library is None:
        _library = ctypes.PyDLL(os.environ["TIDEMARK_TORCH_EXTENSION"], mode=ctypes.RTLD_GLOBAL)
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(_library, name)
            function.restype, function.argtypes = result, arguments
    return _library


def pinned_peak_bytes():
    """The most that was page-locked at one time (virtual_gpu/cudart_memory.cpp)."""
    function = ctypes.CDLL(None).tidemark_pinned_peak_bytes
    function.restype = ctypes.c_int64
    return function()


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


def replay_program():
    """virtual_gpu/replay, built beside the extension."""
    return os.path.join(os.path.dirname(os.environ["TIDEMARK_TORCH_EXTENSION"]), "tidemark_replay")
