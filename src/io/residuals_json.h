// data/residuals.json: how far measured peaks were from predicted ones, for `--margin`.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "estimate/margin.h"

namespace tidemark::io {

inline constexpr const char* kResidualsSchema = "tidemark.residuals/1";

/// Throws Error{bad_file}.  `where` names the file in messages.
std::vector<Residuals> read_residuals(std::string_view text, const std::string& where);

}  // namespace tidemark::io
