// What is live at a report's peak, in full: the lists that the short text only begins.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "estimate/report.h"

namespace tidemark::io {

enum class PeakList { category, module, operation, line };

/// "module,operation", in the order in which they will be shown.  Throws Error{bad_value} naming the nearest; `where`
/// is the option.
std::vector<PeakList> parse_peak_lists(std::string_view text, const std::string& where);

struct Explanation {
  std::vector<PeakList> lists;
  std::size_t rows = 12;        // of each list; the rest is one row
  bool layers_together = true;  // model.layers.*.mlp instead of one row per layer
};

/// The verdict, the peak and the lists.
std::string explanation_of(const Report& report, const Explanation& wanted);

/// One list as a table: largest first, `rows` of them and the rest as "[N others]", each with its share of
/// `whole_bytes`. Empty when no row holds anything.
std::string peak_table(std::string_view title, std::vector<NamedBytes> rows, std::int64_t whole_bytes,
                       std::size_t limit);

}  // namespace tidemark::io
