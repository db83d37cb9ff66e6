// Python's pickle format as far as it holds plain data: None, bool, int, float, str, list, tuple, dict.  Nothing is
// ever imported, called or constructed: the opcodes for that are errors.
// https://docs.python.org/3/library/pickletools.html
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::io {

enum class PickleKind : std::uint8_t { none, boolean, integer, real, text, list, map };

/// Objects may be shared and may even hold themselves, as in Python, so items are indices and a reader must go a known
/// way down.
struct PickleNode {
  PickleKind kind = PickleKind::none;
  std::int64_t integer = 0;  // of a boolean too
  double real = 0;
  std::string_view text;             // a part of the file
  std::vector<std::uint32_t> items;  // of a list or tuple; of a map key, value, key, value
};

class Pickle {
 public:
  const PickleNode& root() const { return nodes_[root_]; }
  const PickleNode& node(std::uint32_t index) const { return nodes_[index]; }
  /// The value of a text key, nullptr when there is none; of equal keys the last, as in Python.
  const PickleNode* find(const PickleNode& map, std::string_view key) const;

 private:
  friend class PickleParser;
  std::vector<PickleNode> nodes_;
  std::uint32_t root_ = 0;
};

/// `bytes` must outlive the result.  Throws Error{bad_file}; Error{unsupported} for objects of any class.
Pickle read_pickle(std::string_view bytes, const std::string& where);

}  // namespace tidemark::io
