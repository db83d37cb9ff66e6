"""Totals of the allocator's events, without a program."""

import ctypes
import types

from tidemark.inside import events

MIB = 1 << 20


def totals(monkeypatch, rows):
    """Events of (action, address, requested bytes, active bytes before); the last leaves none active."""
    raw = b"".join(events.LAYOUT.pack(address, size, active, 0, 0, 0, 0, action, 0, 0, 0) for action, address, size, active in rows)
    buffer = ctypes.create_string_buffer(raw)
    library = types.SimpleNamespace(
        tidemark_event_count=lambda: len(rows),
        tidemark_events=lambda: ctypes.addressof(buffer),
        tidemark_events_truncated=lambda: 0,
    )
    monkeypatch.setattr(events.door, "library", lambda: library)
    return events.Events(active_bytes_now=0)


def test_freed_blocks_and_segments_no_longer_count(monkeypatch):
    found = totals(
        monkeypatch,
        [
            (events.SEGMENT_ALLOC, 0x1000, 2 * MIB, 0),
            (events.ALLOC, 0x1000, 500, 0),
            (events.FREE_REQUESTED, 0x1000, 500, 512),
            (events.FREE_COMPLETED, 0x1000, 500, 512),
            (events.SEGMENT_FREE, 0x1000, 2 * MIB, 0),
            (events.SEGMENT_ALLOC, 0x2000, 20 * MIB, 0),
        ],
    )
    assert found.allocated == [0, 512, 0, 0, 0, 0]
    assert found.reserved == [2 * MIB] * 4 + [0, 20 * MIB]
