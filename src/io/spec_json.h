// A spec as JSON.
#pragma once
#include <string>
#include <string_view>

#include "estimate/spec.h"

namespace tidemark::io {

/// Throws Error.  `where` names the file in messages.
Spec read_spec_json(std::string_view text, const std::string& where);

/// Every field, said or not; read_spec_json gives the same spec back.
std::string write_spec_json(const Spec& spec);

}  // namespace tidemark::io
