// Pieces of HTML.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::io {

/// Safe between tags and inside a double-quoted attribute.
std::string escape_html(std::string_view text);

/// A row of a table; the cells are HTML, `row_class` may be empty.
std::string html_row(const std::vector<std::string>& cells, std::string_view tag = "td",
                     std::string_view row_class = {});

}  // namespace tidemark::io
