// Lists of "who holds how much", made readable.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "estimate/report.h"

namespace tidemark {

/// The name with every number between dots replaced by `*`: "model.layers.12.mlp" becomes "model.layers.*.mlp".
std::string without_indices(std::string_view name);

/// Repeated layers as one row: names that differ only in such numbers are added up.  Largest first; ties stay in order.
std::vector<NamedBytes> layers_together(const std::vector<NamedBytes>& rows);

}  // namespace tidemark
