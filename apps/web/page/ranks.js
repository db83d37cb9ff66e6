// The peak of each GPU, as bars.
import { element, exactly, size } from "./format.js";

export function showRanks(host, report) {
  const most = Math.max(report.card.total_bytes, ...report.ranks.map((row) => row.peak.device_bytes));
  const body = element("tbody");
  for (const row of report.ranks) {
    const bar = element("span", { className: row.fits === true ? "good" : row.fits === false ? "bad" : "unsure" });
    bar.style.width = `${(100 * row.peak.device_bytes) / most}%`;
    body.append(element("tr", {}, element("th", { scope: "row", textContent: row.rank }), element("td", { className: "bar" }, element("div", { className: "filled" }, bar)),
      element("td", { textContent: size(row.peak.device_bytes), title: exactly(row.peak.device_bytes) }), element("td", { textContent: row.fits === true ? "fits" : row.fits === false ? "does not fit" : "may not fit" })));
  }
  const head = element("tr", {}, ...["rank", "device", "bytes", ""].map((textContent) => element(textContent ? "th" : "td", textContent ? { scope: "col", textContent } : {})));
  host.replaceChildren(element("table", {}, element("thead", {}, head), body));
}
