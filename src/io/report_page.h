// The pages that are written as one file, with places for what they show.
#pragma once
#include <string>
#include <string_view>

namespace tidemark::io {

/// data/report_page.html: <!--title--> and <!--data-->.
std::string_view report_page();
/// data/validation_page.html: <!--verdict-->, <!--tables--> and <!--data-->.
std::string_view validation_page();

/// Puts `text` where the page has `place`.
void fill_place(std::string& page, std::string_view place, std::string_view text);
/// JSON as it may stand within a script of a page.
std::string within_script(const std::string& json);

}  // namespace tidemark::io
