// Columns for a terminal: first column left, others right, or all left.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::io {

class TextTable {
 public:
  enum class Align { numbers_right, left };

  explicit TextTable(std::vector<std::string> header, Align align = Align::numbers_right);
  void add(std::vector<std::string> row);
  /// Lines end in '\n'; each begins with `indent` spaces.
  std::string text(std::size_t indent = 0) const;

 private:
  std::vector<std::vector<std::string>> rows_;
  Align align_;
};

/// Both ends in full, which often differ by less than three figures show: "1,024 to 2,048", or one that is both.
std::string range_text(std::int64_t low_bytes, std::int64_t high_bytes);

/// "12.3 %" of the whole; nothing where the whole is.
std::string percent(std::int64_t part, std::int64_t whole);

/// Columns that the text takes in a terminal: UTF-8 sequences count as one.
std::size_t display_width(const std::string& text);

/// At most `width` columns; what is cut from the front (a path's beginning tells least) leaves an ellipsis.
std::string shorten_front(const std::string& text, std::size_t width);

}  // namespace tidemark::io
