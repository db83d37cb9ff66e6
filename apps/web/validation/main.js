// What `tidemark validate --html` writes: a chart above the tables that the file has already.
import { element } from "../page/format.js";
import { showScatter } from "./scatter.js";

const at = (id) => document.getElementById(id);

/// Rows of a list that is folded.
function unfoldable(table) {
  const folded = table.querySelectorAll(".more").length;
  if (folded === 0) return;
  const wide = table.closest(".wide");
  const more = element("button", { type: "button", textContent: `show ${folded} more` });
  more.onclick = () => {
    table.classList.add("unfolded");
    more.remove();
    wide.focus();
  };
  wide.after(more);
}

const engines = JSON.parse(at("data").textContent).engines.filter((one) => one.points.length > 0);
if (engines.length > 0) {
  at("scatter-section").hidden = false;
  showScatter(at("scatter"), at("legend"), at("reading"), engines);
}
document.querySelectorAll("table").forEach(unfoldable);
