#include "program/reads.h"

#include <algorithm>

#include "base/did_you_mean.h"

namespace tidemark {
namespace {

bool is_in(const std::string& path, const std::string& key) {
  return path == key || (path.size() > key.size() && path.starts_with(key) && path[key.size()] == '.');
}

const Reads* reads_of(std::span<const Reads> reads, const std::string& part) {
  const auto found = std::find_if(reads.begin(), reads.end(), [&](const Reads& one) { return one.part == part; });
  return found == reads.end() ? nullptr : &*found;
}

class Finder {
 public:
  Finder(std::span<const Reads> reads, std::span<const std::string> used) : reads_(reads), used_(used) {}

  void look(const Value& config, const Reads& own) {
    const std::string before = own.part.empty() ? "" : own.part + ".";
    for (const Value::Item& item : *config.as_map()) {
      const std::string path = before + item.key;
      const Reads* part = item.value.as_map() ? reads_of(reads_, path) : nullptr;
      if (part && is_of(item.value, *part))
        look(item.value, *part);
      else if (!is_read(path, item.key, own))
        found.push_back({path, item.key, nearest_missing(item.key, own, config)});
    }
  }

  std::vector<UnreadKey> found;

 private:
  static bool is_of(const Value& part, const Reads& reads) {
    const Value* type = part.find("model_type");
    return !type || (type->as_text() && *type->as_text() == reads.model_type);
  }

  bool is_read(const std::string& path, const std::string& key, const Reads& own) const {
    return std::find(own.keys.begin(), own.keys.end(), key) != own.keys.end() || reads_of(reads_, path) ||
           std::any_of(used_.begin(), used_.end(), [&](const std::string& one) { return is_in(one, path); });
  }

  static std::string nearest_missing(const std::string& key, const Reads& own, const Value& config) {
    std::vector<std::string> missing = own.keys;
    std::erase_if(missing, [&](const std::string& one) { return config.find(one) != nullptr; });
    return nearest_name(key, missing).value_or("");
  }

  std::span<const Reads> reads_;
  std::span<const std::string> used_;
};

}  // namespace

Reads read_reads(LineReader& reader) {
  Reads reads;
  while (!reader.at_end()) {
    std::string name = reader.name("_.-");
    if (reader.take_word("as")) {
      reads.part = std::move(name);
      reads.model_type = reader.name("_.-");
      reader.expect(":");
    } else {
      reads.keys.push_back(std::move(name));
    }
  }
  return reads;
}

std::vector<UnreadKey> unread_keys(const Value& config, std::span<const Reads> reads,
                                   std::span<const std::string> used) {
  Finder finder(reads, used);
  if (const Reads* whole = reads_of(reads, ""); whole && config.as_map()) finder.look(config, *whole);
  return std::move(finder.found);
}

}  // namespace tidemark
