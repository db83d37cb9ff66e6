// The processes that a run leaves behind, and their end.
#pragma once
#include <sys/types.h>

#include <vector>

namespace tidemark::cli {

/// From now on orphans below this process become its children, so that none escapes.
void adopt_orphans();

/// Every process below `root` (itself not included), from /proc.
std::vector<pid_t> descendants_of(pid_t root);

/// Ends and reaps every process below this one: SIGTERM, then SIGKILL for those still there after `grace_ms`.
void end_descendants(int grace_ms);

}  // namespace tidemark::cli
