// The first line, and the bytes under it.
import { element, exactly, size } from "./format.js";

function bar(report) {
  const total = report.card.total_bytes;
  const taken = Math.min(1, (report.oom ? total : report.peak.device_bytes) / total);
  const filled = element("span");
  filled.style.width = `${100 * taken}%`;
  return element("div", { className: "filled" }, filled);
}

/// What the device holds besides is known within a range.
const range = ({ low_bytes: low, high_bytes: high }) => (low === high ? exactly(low) : `${low.toLocaleString("en-US")} to ${exactly(high)}`);

/// Between which bytes the peaks are, wherever segments come to lie.
function between({ allocated_bytes: allocated, reserved_bytes: reserved, why }) {
  const ends = ([low_bytes, high_bytes]) => range({ low_bytes, high_bytes });
  return ["interval", reserved[1], `allocated ${ends(allocated)}, reserved ${ends(reserved)}`, why, "part"];
}

/// What is kept free beside it.
function kept({ quantile, of, residuals, bytes }) {
  return ["margin", bytes, exactly(bytes), `what measured peaks were above predicted ones at ${quantile}, of ${residuals} ${of === "all" ? "" : `${of} `}trainings: kept free`];
}

export function peakTable(report) {
  const rows = [
    ["allocated", report.peak.allocated_bytes, exactly(report.peak.allocated_bytes), "live tensors"],
    ["reserved", report.peak.reserved_bytes, exactly(report.peak.reserved_bytes), "what PyTorch's allocator holds"],
    ["device", report.peak.device_bytes, exactly(report.peak.device_bytes), "what nvidia-smi shows: reserved, and what is below"],
    ...(report.interval ? [between(report.interval)] : []),
    ...report.device.map((item) => [item.name, item.typical_bytes, range(item), item.what, "part"]),
    ...(report.margin ? [kept(report.margin)] : []),
    ["card", report.card.total_bytes, exactly(report.card.total_bytes), report.card.name],
  ];
  const body = element("tbody");
  for (const [name, bytes, all, what, className = ""] of rows)
    body.append(element("tr", { className }, element("th", { scope: "row", textContent: name }), element("td", { textContent: size(bytes) }),
      element("td", { className: "exact", textContent: all }), element("td", { className: "soft", textContent: what })));
  return element("table", {}, element("caption", { textContent: `Peak, in step ${report.peak.step}, ${report.peak.phase}` }), body);
}

export function showVerdict(host, report) {
  host.className = report.fits === true ? "good" : report.fits === false ? "bad" : "unsure";
  host.replaceChildren(element("p", { className: "line", textContent: report.verdict }), bar(report));
}

/// Before there is one.
export function showWaiting(host, text) {
  host.className = "";
  host.replaceChildren(element("p", { className: "line", textContent: text }));
}

/// Why there is no verdict: {message, hint}.
export function showError(host, { message, hint }) {
  host.className = "error";
  host.replaceChildren(element("p", { className: "line", textContent: message }));
  if (hint) host.append(element("p", { className: "soft", textContent: hint }));
}
