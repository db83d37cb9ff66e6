// What part of its peak rates a card reaches, by kind of kernel and by size, as others measured it
// (data/efficiency.json).  What is left out stands for the whole of a peak: a plain roofline.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/work.h"

namespace tidemark::plan {

/// Times of products, measured at all points of a grid, per peak rate.  Never less for a larger product: where a
/// measurement says so, that of the smaller one stands.
class ProductTimes {
 public:
  using Axes = std::array<std::vector<double>, 3>;  // m, n, k: ascending, two points or more

  ProductTimes() = default;
  /// Parts of the peak, with k the innermost.
  ProductTimes(Axes axes, const std::vector<double>& shares);

  /// As if it took that many operations at the peak rate.  Between points by their logarithms; above the last in
  /// proportion; below the first as the first, of which most is launching.
  double peak_flops(const ProductShape& shape) const;

 private:
  Axes logs_;
  std::vector<double> log_flops_;
};

/// By points of ascending sizes, along straight lines between logarithms.
struct Curve {
  std::vector<double> at, values;

  double between(double size) const;  // the first value below, the last above
};

struct AttentionShares {
  double head_width = 0;
  Curve forward, backward;  // by tokens
};

inline constexpr std::array<std::string_view, 4> kCollectiveNames{"all_reduce", "all_gather", "reduce_scatter",
                                                                  "alltoall"};
enum class Collective : std::uint8_t { all_reduce, all_gather, reduce_scatter, alltoall };

/// Seconds by bytes, which are those that all ranks have together, of ranks of one node.
struct CollectiveTimes {
  Collective operation = Collective::all_reduce;
  double ranks = 0;
  Curve seconds;
};

/// A part of a link's rate, and what each hop takes besides.
struct LinkShare {
  double share = 1, seconds = 0;
};

/// Of measured step times over the estimate: what one in ten is below, and one in ten above.
struct Band {
  double low = 1, high = 1;
};

struct Efficiency {
  bool is_general = true;  // not of this card: of cards in general
  ProductTimes products;
  double single_products = 1;  // float32, of the peak outside tensor cores
  std::vector<AttentionShares> attention;
  double memory = 1;
  std::vector<CollectiveTimes> collectives;
  LinkShare within_node, between_nodes, host_link;
  double beside_collectives = 1;                                 // of its rate that computing keeps while ranks send
  double seconds_per_operation = 0, seconds_per_collective = 0;  // of the host, to start one
  std::map<std::string, std::string> sources;                    // by kind
  Band band;

  /// Of the peak; of the nearest width of heads.
  double attention_share(const AttentionShape& shape) const;
};

struct EfficiencyTable {
  Efficiency general;
  std::map<std::string, Efficiency, std::less<>> cards;  // by key

  const Efficiency& of(std::string_view card) const;
};

/// Bytes that pass each link, of a message of one (nccl-tests, doc/PERFORMANCE.md).
double bus_share(Collective operation, double ranks);

}  // namespace tidemark::plan
