#include "memory/allocator_settings.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/did_you_mean.h"
#include "base/error.h"
#include "base/number.h"

namespace tidemark {
namespace {

constexpr std::int64_t kMib = 1 << 20;
constexpr std::int64_t kMostMib = std::int64_t{1} << 40;  // more is any card's size many times over

constexpr const char* kWhere = "PYTORCH_CUDA_ALLOC_CONF";

[[noreturn]] void refuse(std::string message, Errc code = Errc::usage, std::string hint = {}) {
  throw Error(code, std::move(message), kWhere, std::move(hint));
}

/// ConfigTokenizer: words, and each of , : [ ] by itself; white space does not count.
std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> tokens(1);
  for (const char c : text) {
    if (std::string_view(",:[]").find(c) != std::string_view::npos) {
      if (tokens.back().empty()) tokens.pop_back();
      tokens.emplace_back(1, c);
      tokens.emplace_back();
    } else if (std::string_view(" \t\n\v\f\r").find(c) == std::string_view::npos) {
      tokens.back() += c;
    }
  }
  if (tokens.back().empty()) tokens.pop_back();
  return tokens;
}

class Reader {
 public:
  Reader(std::string_view text, const AllocatorRules& rules) : tokens_(tokens_of(text)), rules_(rules) {}

  AllocatorSettings read() {
    read_all(true);
    settings_.max_non_split_rounding_bytes = settings_.large_segment_bytes;
    read_all(false);
    return settings_;
  }

 private:
  /// large_segment_size_mb first, wherever it stands: the limits of others depend on it.
  void read_all(bool segment_size_only) {
    at_ = 0;
    while (at_ < tokens_.size()) {
      const std::string key = next();
      expect(":");
      if ((key == "large_segment_size_mb" && rules_.has_newer_settings) != segment_size_only) {
        skip_value();
      } else {
        read_value(key);
      }
      if (at_ < tokens_.size()) expect(",");
    }
  }

  void read_value(const std::string& key) {
    if (key == "max_split_size_mb") {
      settings_.max_split_bytes = read_limit(key);
    } else if (key == "max_non_split_rounding_mb") {
      settings_.max_non_split_rounding_bytes = read_limit(key);
    } else if (key == "garbage_collection_threshold") {
      const double value = read_number<double>(key);
      if (!(value > 0 && value < 1)) refuse("garbage_collection_threshold must lie between 0.0 and 1.0");
      settings_.garbage_collection_threshold = value;
    } else if (key == "roundup_power2_divisions") {
      read_divisions();
    } else if (key == "expandable_segments") {
      settings_.expandable_segments = read_bool(key);
    } else if (key == "backend") {
      const std::string value = next();
      if (value == "cudaMallocAsync")
        refuse("backend:cudaMallocAsync is not modelled", Errc::unsupported, "use backend:native");
      if (value != "native")
        refuse(fmt::format("\"{}\" is not a backend", value), Errc::usage, "native or cudaMallocAsync");
    } else if (key == "large_segment_size_mb" && rules_.has_newer_settings) {
      const auto value = read_number<std::int64_t>(key);
      if (value <= 10) refuse("large_segment_size_mb must be more than 10");
      settings_.large_segment_bytes = std::min(value, kMostMib) * kMib;
    } else if (key == "per_process_memory_fraction" && rules_.has_newer_settings) {
      const double value = read_number<double>(key);
      if (!(value >= 0 && value <= 1)) refuse("per_process_memory_fraction must lie in 0.0 to 1.0");
      settings_.memory_fraction = value;
    } else if (key == "throw_on_cudamalloc_oom" && rules_.has_early_refusal) {
      if (read_bool(key))
        refuse("throw_on_cudamalloc_oom:True is not modelled", Errc::unsupported, "use throw_on_cudamalloc_oom:False");
    } else {
      read_without_effect(key);
    }
  }

  void read_without_effect(const std::string& key) {
    std::vector<std::string> known(rules_.settings_without_effect.begin(), rules_.settings_without_effect.end());
    if (std::find(known.begin(), known.end(), key) != known.end()) return skip_value();
    if (rules_.has_early_refusal) known.emplace_back("throw_on_cudamalloc_oom");
    known.insert(known.end(), {"max_split_size_mb", "max_non_split_rounding_mb", "garbage_collection_threshold",
                               "roundup_power2_divisions", "expandable_segments", "backend"});
    if (rules_.has_newer_settings) known.insert(known.end(), {"large_segment_size_mb", "per_process_memory_fraction"});
    refuse(fmt::format("torch {} has no setting \"{}\"", rules_.torch, key), Errc::unknown_name,
           did_you_mean(key, known));
  }

  std::int64_t read_limit(const std::string& key) {
    const auto value = read_number<std::int64_t>(key);
    const std::int64_t least =
        settings_.large_segment_bytes / kMib + (rules_.split_limit_excludes_large_segment ? 1 : 0);
    if (value < least) refuse(fmt::format("{} must be at least {}", key, least));
    return std::min(value, kMostMib) * kMib;
  }

  void read_divisions() {
    auto& divisions = settings_.roundup_power2_divisions;
    if (peek() != "[") {
      const auto value = read_number<std::int64_t>("roundup_power2_divisions");
      if (!std::has_single_bit(static_cast<std::uint64_t>(value)))
        refuse("roundup_power2_divisions must be a power of 2");
      divisions.fill(value);
      return;
    }
    divisions.fill(0);
    next();
    std::size_t last = 0;
    for (bool first = true; peek() != "]"; first = false) {
      if (!first) expect(",");
      const bool rest = peek() == ">";
      const auto boundary = rest ? (next(), std::int64_t{1}) : read_number<std::int64_t>("roundup_power2_divisions");
      expect(":");
      const auto value = read_number<std::int64_t>("roundup_power2_divisions");
      const auto power_of_2 = [](std::int64_t number) {
        return std::has_single_bit(static_cast<std::uint64_t>(number));
      };
      if (!power_of_2(boundary)) refuse("roundup_power2_divisions: intervals must be powers of 2");
      if (value != 0 && !power_of_2(value))
        refuse("roundup_power2_divisions: divisions must be powers of 2, or 0 for none");
      if (rest) {
        std::fill(divisions.begin() + static_cast<std::ptrdiff_t>(last + (rules_.rest_replaces_last_interval ? 0 : 1)),
                  divisions.end(), value);
        continue;
      }
      last = std::min<std::size_t>(static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(boundary))),
                                   divisions.size() - 1);
      if (first) std::fill(divisions.begin(), divisions.begin() + static_cast<std::ptrdiff_t>(last), value);
      divisions[last] = value;
    }
    next();
  }

  bool read_bool(const std::string& key) {
    const std::string value = next();
    if (value != "True" && value != "False") refuse(fmt::format("{} is True or False, not \"{}\"", key, value));
    return value == "True";
  }

  template <class Number>
  Number read_number(const std::string& key) {
    const std::string text = next();
    const auto value = parse_number<Number>(text);
    if (!value || *value < 0) refuse(fmt::format("{}: \"{}\" is not a number", key, text));
    return *value;
  }

  std::string_view peek() const { return at_ < tokens_.size() ? std::string_view(tokens_[at_]) : std::string_view(); }
  std::string next() {
    if (at_ == tokens_.size()) refuse("ends in the middle of a setting");
    return tokens_[at_++];
  }
  void expect(std::string_view token) {
    if (const std::string found = next(); found != token)
      refuse(fmt::format("\"{}\" where \"{}\" should be", found, token));
  }
  void skip_value() {
    if (next() != "[") return;
    while (next() != "]") {
    }
  }

  const std::vector<std::string> tokens_;
  const AllocatorRules& rules_;
  std::size_t at_ = 0;
  AllocatorSettings settings_;
};

}  // namespace

AllocatorSettings parse_allocator_settings(std::string_view text, const AllocatorRules& rules) {
  return Reader(text, rules).read();
}

}  // namespace tidemark
