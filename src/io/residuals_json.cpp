#include "io/residuals_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/json_reader.h"

namespace tidemark::io {

std::vector<Residuals> read_residuals(std::string_view text, const std::string& where) {
  const Json json = parse_json(text, where);
  ObjectReader reader(json, where);
  reader.schema(kResidualsSchema);
  reader.text("source");
  std::vector<Residuals> groups;
  for (const Json& one : reader.array("groups")) {
    ObjectReader group(one, fmt::format("{}[{}]", reader.path("groups"), groups.size()));
    Residuals residuals{group.text("modality"), {}};
    const std::int64_t n = group.number("n");
    for (const Json& share : group.array("residuals")) {
      if (!share.is_number()) group.fail("residuals", "numbers", share);
      residuals.shares.push_back(share.get<double>());
    }
    if (static_cast<std::int64_t>(residuals.shares.size()) != n ||
        !std::is_sorted(residuals.shares.begin(), residuals.shares.end()))
      group.fail("residuals", "n numbers in order", one);
    group.finish();
    groups.push_back(std::move(residuals));
  }
  reader.finish();
  return groups;
}

}  // namespace tidemark::io
