#include "io/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"

namespace tidemark::io {
namespace {

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

}  // namespace

std::string range_text(std::int64_t low_bytes, std::int64_t high_bytes) {
  return low_bytes == high_bytes ? group_digits(low_bytes)
                                 : group_digits(low_bytes) + " to " + group_digits(high_bytes);
}

std::string percent(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole)) : "";
}

std::size_t display_width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string shorten_front(const std::string& text, std::size_t width) {
  const std::size_t columns = display_width(text);
  if (columns <= width) return text;
  std::size_t drop = columns - width + 1, at = 0;
  while (at < text.size() && (drop > 0 || !starts_character(text[at])))
    drop -= starts_character(text[at++]) && drop ? 1 : 0;
  // Between two parts of a module's name or of a path, where one is left whole.
  const std::size_t part = text.find(text.find('/') == std::string::npos ? '.' : '/', at);
  return "…" + text.substr(part == std::string::npos ? at : part);
}

TextTable::TextTable(std::vector<std::string> header, Align align) : align_(align) {
  rows_.push_back(std::move(header));
}

void TextTable::add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

std::string TextTable::text(std::size_t indent) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::string result;
  for (const auto& row : rows_) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - display_width(row[i]), ' ');
      const bool right = i > 0 && align_ == Align::numbers_right;
      line += (i ? "  " : "") + (right ? padding + row[i] : row[i] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + "\n";
  }
  return result;
}

}  // namespace tidemark::io
