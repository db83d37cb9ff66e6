#include "program/parts.h"

#include <algorithm>
#include <utility>

namespace tidemark {
namespace {

std::int64_t product(const Dims& sizes, int from, int to) {
  std::int64_t all = 1;
  for (int d = from; d < to; ++d) all *= sizes[d];
  return all;
}

/// Where the dimensions from `a` and from `b` on have the same product for the first time: {ends}; {0, 0} if they never
/// have.
std::pair<int, int> ends_of_group(const Dims& a, int from_a, const Dims& b, int from_b) {
  int end_a = from_a + 1, end_b = from_b + 1;
  while (end_a <= a.count() && end_b <= b.count()) {
    const std::int64_t of_a = product(a, from_a, end_a), of_b = product(b, from_b, end_b);
    if (of_a == of_b) return {end_a, end_b};
    of_a < of_b ? ++end_a : ++end_b;
  }
  return {0, 0};
}

}  // namespace

Dims viewed_part(const Dims& said, const Dims& whole, const Dims& now) {
  if (whole == now || whole.count() != now.count()) return said;
  Dims part = said;
  int same = 0;  // samples and tokens, of which a GPU may have some
  for (; same < std::min(whole.count(), said.count()) && said[same] == whole[same]; ++same) part[same] = now[same];
  if (std::find(said.begin(), said.end(), -1) != said.end()) return part;  // torch finds the rest itself
  for (int from = same, from_said = same; from < whole.count() && from_said < said.count();) {
    const auto [end, end_said] = ends_of_group(whole, from, said, from_said);
    if (end == 0) return said;
    const std::int64_t of_whole = product(whole, from, end), here = product(now, from, end);
    if (here < 1 || of_whole < here || of_whole % here != 0) return said;  // no part of it
    const std::int64_t shares = of_whole / here;
    for (int d = from_said; d < end_said; ++d) {  // heads come before what each of them has
      if (part[d] % shares != 0) continue;
      part[d] /= shares;
      break;
    }
    from = end;
    from_said = end_said;
  }
  return part;
}

Dims expanded_part(const Dims& said, const Dims& whole, const Dims& now) {
  if (whole == now || whole.count() != now.count() || said.count() < whole.count()) return said;
  Dims part = said;
  for (int d = 1; d <= whole.count(); ++d)
    if (said[-d] == whole[-d]) part[-d] = now[-d];
  return part;
}

}  // namespace tidemark
