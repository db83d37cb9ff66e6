// What a process does with memory that it has freed.
#pragma once

namespace tidemark {

/// Keeps freed memory for the next allocations instead of giving it back to the system: a process that makes one
/// prediction after another would fetch each of its pages again (1,300 page faults each, a quarter of the time).  For
/// the main of a program, before its threads begin.
void keep_freed_memory();

}  // namespace tidemark
