#include "io/html_page.h"

#include <fmt/format.h>

namespace tidemark::io {
namespace {

constexpr std::string_view kStyle = R"(
:root{--ink:#1c2733;--soft:#667;--line:#dde3ea;--blue:#2563a8;--pale:#9dc1e6;--back:#fff;--good:#1a7f4b;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--ink:#e4e9ef;--soft:#9aa7b4;--line:#33404d;--blue:#6aaae8;--pale:#2f5680;
--back:#131a21;--good:#4cc38a;--bad:#ff7b72}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back);max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.35rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:1.2rem 0 .3rem}
small,footer,header p{color:var(--soft);font-weight:normal}header p{margin:.2rem 0}
header{border-left:.4rem solid var(--soft);padding-left:.8rem}header.good{border-color:var(--good)}header.bad{border-color:var(--bad)}
table{border-collapse:collapse}td,th{padding:.15rem .9rem .15rem 0;text-align:left;font-weight:normal;vertical-align:top}
th{color:var(--soft);border-bottom:1px solid var(--line)}td+td,th+th{font-variant-numeric:tabular-nums}
code,pre{font-size:.88em;overflow-wrap:anywhere}pre{white-space:pre-wrap;border:1px solid var(--line);padding:.6rem}
.bar{width:12rem}.bar i{display:block;height:.7rem;margin-top:.4rem;background:var(--blue);min-width:1px}
.more{display:none}.unfolded .more{display:table-row}button{font:inherit;border:0;background:none;color:var(--blue);cursor:pointer;padding:0}
svg{width:100%;height:auto;display:block}.axis{fill:var(--soft);font-size:11px}.grid{stroke:var(--line)}
.allocated{fill:var(--blue);fill-opacity:.75}.reserved{fill:var(--pale);fill-opacity:.6}.limit{stroke:var(--bad);stroke-dasharray:5 4}
.cursor{stroke:var(--ink);visibility:hidden}#reading{min-height:1.5em;color:var(--soft)}
)";

// Reads the chart's own points; shows the one under the pointer.
constexpr std::string_view kScript = R"(
for(const b of document.querySelectorAll('.unfold'))b.onclick=()=>{b.previousElementSibling.classList.add('unfolded');b.remove()};
const chart=document.getElementById('chart');
if(chart){
  const points=JSON.parse(document.getElementById('points').textContent),cursor=chart.querySelector('.cursor'),
        reading=document.getElementById('reading'),phases=['load','forward','backward','optimizer','other'],
        left=+chart.dataset.left,right=+chart.dataset.right,width=chart.viewBox.baseVal.width,
        size=b=>{let u=0;while(b>=1023.5&&u<5){b/=1024;u++}return b.toPrecision(3)+' '+['B','KiB','MiB','GiB','TiB','PiB'][u]};
  chart.onpointermove=e=>{
    const box=chart.getBoundingClientRect(),x=(e.clientX-box.left)/box.width*width,
          first=points[0][0],last=points[points.length-1][0],event=first+(x-left)/(right-left)*(last-first);
    let best=points[0];for(const p of points)if(Math.abs(p[0]-event)<Math.abs(best[0]-event))best=p;
    const at=left+(last>first?(best[0]-first)/(last-first):0)*(right-left);
    cursor.setAttribute('x1',at);cursor.setAttribute('x2',at);cursor.style.visibility='visible';
    reading.textContent=`event ${best[0]}, step ${best[3]}, ${phases[best[4]]}: allocated ${size(best[1])}, reserved ${size(best[2])}`;
  };
}
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
