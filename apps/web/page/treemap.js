// What is live at the peak, by module: two levels at a time, a press goes into a module.
import { hierarchy, treemap, treemapSquarify } from "d3-hierarchy";
import { element, exactly, size } from "./format.js";

const NO_MODULE = "(no module)";

/// The dots of the names make a tree; `own` is what a module holds itself.
export function treeOf(rows) {
  const root = { name: "", own: 0, children: new Map() };
  for (const { name, bytes } of rows) {
    let node = root;
    for (const part of name === "-" ? [NO_MODULE] : name.split(".")) {
      if (!node.children.has(part)) node.children.set(part, { name: part, own: 0, children: new Map() });
      node = node.children.get(part);
    }
    node.own += bytes;
  }
  return root;
}

/// What a module holds itself, beside its children, is a child without a name.
function childrenOf(node) {
  const children = [...node.children.values()];
  if (children.length > 0 && node.own > 0) children.push({ name: "itself", own: node.own, children: new Map() });
  return children;
}

function place(box, node) {
  Object.assign(box.style, { left: `${node.x0}px`, top: `${node.y0}px`, width: `${node.x1 - node.x0}px`, height: `${node.y1 - node.y0}px` });
  return box;
}

export function makeTreemap(host, crumbs) {
  let root = treeOf([]);
  let path = [];

  function focused() {
    let node = root;
    const found = [];
    for (const part of path) {
      if (!node.children.get(part)?.children.size) break;
      node = node.children.get(part);
      found.push(part);
    }
    path = found;
    return node;
  }

  function go(to) {
    path = to;
    draw();
    (host.querySelector("button") ?? crumbs.querySelector("button:last-of-type"))?.focus();
  }

  function showCrumbs() {
    const steps = ["the whole model", ...path].map((name, i) =>
      element("button", { type: "button", textContent: name, disabled: i === path.length, onclick: () => go(path.slice(0, i)) }));
    crumbs.replaceChildren(...steps);
  }

  function tile(node) {
    const inside = node.data.children.size > 0;
    const label = `${[...path, node.data.name].join(".")}: ${size(node.value)}`;
    const box = element(inside ? "button" : "div", { className: `tile hue${node.parent.children.indexOf(node) % 6}`, title: `${label} (${exactly(node.value)})` });
    if (inside) Object.assign(box, { type: "button", onclick: () => go([...path, node.data.name]) });
    const roomy = node.x1 - node.x0 > 46 && node.y1 - node.y0 > 34;
    if (roomy) box.append(element("span", { className: "name", textContent: node.data.name }), element("span", { className: "bytes", textContent: size(node.value) }));
    return place(box, node);
  }

  function draw() {
    const width = host.clientWidth;
    const height = host.clientHeight;
    if (width === 0) return;
    const tree = hierarchy(focused(), childrenOf).sum((node) => (node.children.size > 0 ? 0 : node.own)).sort((a, b) => b.value - a.value);
    treemap().tile(treemapSquarify).size([width, height]).paddingInner(1).paddingTop((node) => (node.depth === 1 && node.children ? 38 : 0)).round(true)(tree);
    const tiles = (tree.children ?? []).map(tile);
    const inner = (tree.children ?? []).flatMap((node) => node.children ?? []).filter((node) => node.x1 > node.x0 && node.y1 > node.y0)
      .map((node) => place(element("span", { className: "inner", title: `${node.data.name}: ${size(node.value)}` }), node));
    host.replaceChildren(...tiles, ...inner);
    showCrumbs();
  }

  new ResizeObserver(draw).observe(host);
  return {
    show(report) {
      root = treeOf(report.at_peak.by_module);
      draw();
    },
  };
}
