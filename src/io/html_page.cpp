#include "io/html_page.h"

#include <fmt/format.h>

#include "base/check.h"
#include "io/report_page.h"

namespace tidemark::io {
std::string escape_html(std::string_view text) {
  std::string result;
  for (char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += c;
    }
  }
  return result;
}

std::string html_row(const std::vector<std::string>& cells, std::string_view tag, std::string_view row_class) {
  std::string text = row_class.empty() ? "<tr>" : fmt::format("<tr class=\"{}\">", row_class);
  for (const std::string& cell : cells) text += fmt::format("<{0}>{1}</{0}>", tag, cell);
  return text + "</tr>\n";
}

/// Nothing in JSON that stands in a page can end its element, or begin a comment.
std::string within_script(const std::string& json) {
  std::string text;
  for (const char letter : json) text += letter == '<' ? std::string("\\u003c") : std::string(1, letter);
  return text;
}

void fill_place(std::string& page, std::string_view place, std::string_view text) {
  const std::size_t at = page.find(place);
  TM_CHECK(at != std::string::npos, "the page has no place for what it is to show");
  page.replace(at, place.size(), text);
}

}  // namespace tidemark::io
