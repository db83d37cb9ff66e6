// Where the running Python code stands, asked through CPython's stable interface (no Python headers needed).
#pragma once
#include <cstdint>
#include <string>

namespace tidemark {

/// The innermost Python line outside PyTorch's own files, as an id; 0 when no Python runs on this thread.  Takes the
/// GIL.
std::uint32_t python_line();
/// "file:line" of an id.
const std::string& line_text(std::uint32_t id);
std::uint32_t line_count();

}  // namespace tidemark
