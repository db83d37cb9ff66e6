"""Python's cycle collector runs when as many containers were made as its threshold says, and what lies in a cycle dies then: a user's tensors too.

So that its moments are the program's own, what we do inside its process counts for nothing: it does not collect meanwhile, and counts afterwards as if
nothing had been made (`losses.guarded`).  Where a whole training passes through us (`Module.__call__`, `batches.note`), we make no container at all: one that CPython
has none in store for, and keeps when it dies, would be one that the program need not make.

What stays different is where in its count a training begins: CPython keeps a few dead tuples, lists and dictionaries for the next ones, which do not count,
and imports make and drop so many that one of these more or less decides which of them a collection meets.
"""

import ctypes
import gc
import sys

_UNLIKELY = (0x3B9AC9, 0x5F5E1, 0x2FAF09)  # thresholds that nothing else in memory looks like
_SEARCHED_BYTES = 1 << 18
_GENERATION_BYTES = 24  # struct gc_generation (pycore_gc.h, CPython 3.9 to 3.14): two pointers, int threshold, int count


class _Nothing:
    value = 0


count = _Nothing()  # containers made since the last collection, where the collector keeps it; without that, collections come early by what we make
known = False


def find(made_before):
    """Call once.  `made_before`: containers of ours that were made at the interpreter's start."""
    global count, known
    enabled = gc.isenabled()
    gc.disable()
    try:
        before = gc.get_count()
        found = _count_in_memory()
        if found is not None and _counts(found):
            count, known = found, True
            _count_back(before, made_before)
    finally:
        if enabled:
            gc.enable()


def _count_in_memory():
    """The thresholds are looked for in the interpreter's state, where the counts lie beside them."""
    interpreter_of = ctypes.pythonapi.PyInterpreterState_Get
    interpreter_of.restype = ctypes.c_void_p
    start = interpreter_of()
    thresholds = gc.get_threshold()
    gc.set_threshold(*_UNLIKELY)
    try:
        memory = ctypes.string_at(start, min(_SEARCHED_BYTES, _mapped_after(start)))
    finally:
        gc.set_threshold(*thresholds)
    words = [number.to_bytes(4, sys.byteorder) for number in _UNLIKELY]
    places = [at for at in _all_places(memory, words[0]) if all(memory[at + i * _GENERATION_BYTES :].startswith(word) for i, word in enumerate(words))]
    return ctypes.c_int.from_address(start + places[0] + 4) if len(places) == 1 else None


def _all_places(memory, word):
    at = memory.find(word)
    while at >= 0:
        yield at
        at = memory.find(word, at + 1)


def _mapped_after(address):
    with open("/proc/self/maps") as file:
        spans = [[int(end, 16) for end in line.split(" ", 1)[0].split("-")] for line in file]
    end = address
    for first, last in spans:  # in order of addresses
        if first <= end < last:
            end = last
    return end - address


def _count_back(counts, made):
    """The counts as they were without the last `made` containers: those may have brought a collection forward."""
    first, second, _ = gc.get_threshold()
    youngest, younger = first + 1, second + 2  # containers from one collection to the next; collections of the youngest until one of the second generation too
    if first <= 0 or second <= 0:
        return
    total = max(0, (counts[2] * younger + counts[1]) * youngest + counts[0] - made)
    collections, count.value = divmod(total, youngest)
    for generation, value in zip((1, 2), reversed(divmod(collections, younger))):
        ctypes.c_int.from_address(ctypes.addressof(count) + generation * _GENERATION_BYTES).value = value


def _counts(found):
    """Whether it is what the collector goes by."""
    before = found.value
    made = [{0: None} for _ in range(200)]
    counted = found.value - before
    del made
    return 100 <= counted <= 250  # a few dictionaries are used again
