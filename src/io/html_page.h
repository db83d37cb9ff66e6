// The frame of an HTML report: head, style and script, all inside the one file.
#pragma once
#include <string>
#include <string_view>

namespace tidemark::io {

/// Safe between tags and inside a double-quoted attribute.
std::string escape_html(std::string_view text);

/// `title` is text, `body` is HTML.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace tidemark::io
