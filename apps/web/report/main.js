// A report as one page: the components of the page in the browser, over what the file itself holds.
import { element } from "../page/format.js";
import { showRanks } from "../page/ranks.js";
import { makeTimeline } from "../page/timeline.js";
import { makeTreemap } from "../page/treemap.js";
import { peakTable, showVerdict } from "../page/verdict.js";
import { about, assumptions, communicators, lists, outOfMemory, steps } from "./tables.js";

const at = (id) => document.getElementById(id);

/// By category where that is known.
function showTimeline(report) {
  if (report.timeline.length < 2) return;
  at("timeline-section").hidden = false;
  const names = report.timeline_by_category?.map((one) => one.name) ?? ["allocated"];
  makeTimeline(at("timeline"), at("legend"), at("reading"), names).show(report);
}

function start() {
  const { report, lines } = JSON.parse(at("data").textContent);
  showVerdict(at("verdict"), report);
  at("verdict").append(peakTable(report));
  at("lines").replaceChildren(...lines.map((textContent) => element("li", { textContent })));
  if (report.oom) {
    at("oom").hidden = false;
    at("oom").append(...outOfMemory(report.oom));
  }
  showTimeline(report);
  if (report.at_peak.by_module.some((row) => row.bytes > 0)) {
    at("treemap-section").hidden = false;
    makeTreemap(at("treemap"), at("crumbs")).show(report);
  }
  at("lists").append(...lists(report));
  if (report.ranks?.length > 0) {
    at("ranks-section").hidden = false;
    showRanks(at("ranks"), report);
  }
  at("more").append(...steps(report), ...communicators(report), ...assumptions(report));
  at("about").append(...about(report));
}

start();
