// Links to the documents and the source, where tools/build_page.sh has found them.
import { element } from "./format.js";

/// {documents: whether their site stands beside the page; repository: an address such as https://example.org/tidemark/blob/main, or ""}
export function linksOf({ documents, repository }) {
  const links = [];
  if (documents) links.push(["Documents", "documents/index.html"]);
  else if (repository) links.push(["Documents", `${repository}/docs/index.md`]);
  if (repository) links.push(["Source", `${repository}/README.md`]);
  return links;
}

export function showLinks(host) {
  const links = linksOf({ documents: TIDEMARK_DOCUMENTS, repository: TIDEMARK_REPOSITORY });
  host.hidden = links.length === 0;
  host.replaceChildren(...links.flatMap(([textContent, href], i) => [...(i > 0 ? [" · "] : []), element("a", { textContent, href })]));
}
