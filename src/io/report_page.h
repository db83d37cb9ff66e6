// The page of a report, data/report_page.html, with places for what it shows: <!--title--> and <!--data-->.
#pragma once
#include <string_view>

namespace tidemark::io {

std::string_view report_page();

}  // namespace tidemark::io
