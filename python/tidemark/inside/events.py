"""Reads the allocator events that the extension logged and works out what they add up to.

Sizes are the allocator's own: an event carries the allocator's count of active bytes before it, so an allocation's rounded size is the
difference to the next event.
"""

import ctypes
import dataclasses
import os
import struct
import sys

from . import door
from .phases import NAMES as PHASES

ALLOC, FREE_REQUESTED, FREE_COMPLETED, SEGMENT_ALLOC, SEGMENT_FREE, OUT_OF_MEMORY, EMPTY_CACHE = range(7)
OPERATIONS, MODULES, LINES = range(3)  # kinds of interned text
CATEGORIES = ("other", "parameters", "gradients", "optimizer_state", "activations", "workspace", "communication", "kv_cache")
LAYOUT = struct.Struct("<QqqQIIIBBBB")  # struct Event, event_log.h


@dataclasses.dataclass(frozen=True)
class Peak:
    allocated_bytes: int
    reserved_bytes: int
    step: int
    row: tuple  # the event at which allocated memory is highest
    live: list  # [(bytes, row)] of what is allocated then

    @staticmethod
    def of(events, step_ends, until=None):
        """Of the first `until` events."""
        i = events.peak_index(until)
        return Peak(events.allocated[i], max(events.reserved[:until]), step_of(i, step_ends), events.rows[i], events.live_at(i))


def step_of(index, step_ends):
    """1 for everything up to the end of the first step, and so on."""
    return sum(1 for end in step_ends if index >= end) + 1


class Events:
    """All events, and the running totals after each: `allocated[i]`, `reserved[i]`."""

    def __init__(self, active_bytes_now):
        library = door.library()
        self.count = library.tidemark_event_count()
        self.raw = ctypes.string_at(library.tidemark_events(), self.count * LAYOUT.size) if self.count else b""
        self.rows = list(LAYOUT.iter_unpack(self.raw))
        self.truncated = library.tidemark_events_truncated()
        self.active_bytes_now = active_bytes_now
        self.allocated, self.reserved = [], []
        self._run()

    def block_bytes(self, index):
        """What the allocator made of allocation `index`: its block, rounded."""
        following = self.rows[index + 1][2] if index + 1 < self.count else self.active_bytes_now
        return following - self.rows[index][2]

    def _run(self):
        allocated = reserved = 0
        size_of = {}
        for i, (address, requested, _, _, _, _, _, action, *_) in enumerate(self.rows):
            if action == ALLOC:
                size_of[address] = self.block_bytes(i)
                allocated += size_of[address]
            elif action == FREE_REQUESTED:
                allocated -= size_of.get(address, 0)
            elif action == SEGMENT_ALLOC:
                reserved += requested
            elif action == SEGMENT_FREE:
                reserved -= requested
            self.allocated.append(allocated)
            self.reserved.append(reserved)

    def peak_index(self, until=None):
        """The first event at which allocated memory is highest, of the first `until` events."""
        return max(range(self.count)[:until], key=lambda i: (self.allocated[i], -i)) if self.count else None

    def live_at(self, index):
        """[(bytes, row)] of the blocks that are allocated right after event `index`."""
        live = {}
        for i in range(index + 1):
            row = self.rows[i]
            if row[7] == ALLOC:
                live[row[0]] = (self.block_bytes(i), row)
            elif row[7] == FREE_REQUESTED:
                live.pop(row[0], None)
        return list(live.values())

    def phase(self, index):
        return PHASES[self.rows[index][8]]


def texts(kind):
    """Interned texts: 0 operations, 1 modules, 2 lines."""
    library = door.library()
    found = [library.tidemark_text(kind, i).decode(errors="replace") for i in range(library.tidemark_text_count(kind))]
    return [short_path(text) for text in found] if kind == LINES else found


def short_path(path):
    """A file as its reader knows it: relative to the folder of packages that holds it, or to the working directory."""
    for folder in sorted({p for p in (*sys.path, os.getcwd()) if p}, key=len, reverse=True):
        if path.startswith(folder.rstrip("/") + "/"):
            return path[len(folder.rstrip("/")) + 1 :]
    return path
