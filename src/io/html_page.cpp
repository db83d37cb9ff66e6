#include "io/html_page.h"

#include <fmt/format.h>

namespace tidemark::io {
namespace {

constexpr std::string_view kStyle = R"(
:root{--ink:#1c2733;--soft:#667;--line:#dde3ea;--blue:#2563a8;--back:#fff;--good:#1a7f4b;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--ink:#e4e9ef;--soft:#9aa7b4;--line:#33404d;--blue:#6aaae8;
--back:#131a21;--good:#4cc38a;--bad:#ff7b72}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back);max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.35rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:1.2rem 0 .3rem}
small,header p{color:var(--soft);font-weight:normal}header p{margin:.2rem 0}
header{border-left:.4rem solid var(--soft);padding-left:.8rem}header.good{border-color:var(--good)}header.bad{border-color:var(--bad)}
table{border-collapse:collapse}td,th{padding:.15rem .9rem .15rem 0;text-align:left;font-weight:normal;vertical-align:top}
th{color:var(--soft);border-bottom:1px solid var(--line)}td+td,th+th{font-variant-numeric:tabular-nums}
.more{display:none}.unfolded .more{display:table-row}button{font:inherit;border:0;background:none;color:var(--blue);cursor:pointer;padding:0}
svg{width:100%;height:auto;display:block}.axis{fill:var(--soft);font-size:11px}.grid{stroke:var(--line)}
)";

// Shows the rest of a list that is folded.
constexpr std::string_view kScript = R"(
for(const b of document.querySelectorAll('.unfold'))b.onclick=()=>{b.previousElementSibling.classList.add('unfolded');b.remove()};
)";

}  // namespace

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

std::string html_page(std::string_view title, std::string_view body, std::string_view style) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n<style>{}{}</style>\n</head>\n"
      "<body>\n{}<script>{}</script>\n</body>\n</html>\n",
      escape_html(title), kStyle, style, body, kScript);
}

}  // namespace tidemark::io
