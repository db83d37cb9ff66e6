// Lists of events as text: one line "+bytes operation module" per allocation, "-bytes operation module" per free.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "estimate/compare.h"

namespace tidemark::io {

/// Operation and module may be missing.  Throws Error{bad_file} with the line.
std::vector<MemoryEvent> read_events(std::string_view text, const std::string& where);

std::string event_line(const MemoryEvent& event);

}  // namespace tidemark::io
