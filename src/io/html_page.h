// The frame of an HTML page: head, style and script, all inside the one file.
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

/// `title` is text, `body` is HTML; `style` comes after the common one.
std::string html_page(std::string_view title, std::string_view body, std::string_view style = {});

}  // namespace tidemark::io
