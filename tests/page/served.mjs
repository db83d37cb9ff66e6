// The page in the system's Chromium, over HTTP and as a file.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { existsSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";

import { installed, page } from "./built.mjs";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".svg": "image/svg+xml" };

/// Serves the built page on a free port of this machine; `requests` lists what was asked for.
export async function serve() {
  const requests = [];
  const server = createServer((request, response) => {
    const path = new URL(request.url, "http://localhost").pathname;
    requests.push(path);
    const file = join(page, path === "/" ? "index.html" : path);
    if (!existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(file)] }).end(readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, requests, close: () => server.close() };
}

export function launch() {
  const { chromium } = installed("playwright-core");
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
}

/// A page that keeps what the console, the page itself and its policy complain of.  A report has its answer within.
export async function open(browser, url, { isReport = false, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const tab = await context.newPage();
  const complaints = [];
  tab.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  tab.on("pageerror", (error) => complaints.push(error.message));
  tab.on("requestfailed", (request) => complaints.push(`failed: ${request.url()}`));
  await tab.goto(url);
  if (!isReport) await tab.waitForFunction(() => document.body.dataset.answered);
  return { tab, complaints, close: () => context.close() };
}

/// Does something, and waits for the answer to it.
export async function answered(tab, act) {
  const before = await tab.evaluate(() => Number(document.body.dataset.answered));
  await act();
  await tab.waitForFunction((number) => Number(document.body.dataset.answered) > number, before);
}

/// Waits for the rows of methods and of cards.
export const settled = (tab) => tab.waitForFunction(() => ["methods", "cards"].every((id) => document.getElementById(id).getAttribute("aria-busy") === "false"), null, { timeout: 120_000 });

/// Works with a page of which nothing complains.
export async function withPage(browser, url, options, work) {
  const { tab, complaints, close } = await open(browser, url, options);
  try {
    await work(tab);
    assert.deepEqual(complaints, []);
  } finally {
    await close();
  }
}

/// A control by its name, in `host`, which is a page or a part of one.
export function control(host, name) {
  const roles = ["combobox", "slider", "spinbutton", "checkbox", "textbox", "radio"].map((role) => host.getByRole(role, { name, exact: true }));
  return roles.reduce((any, one) => any.or(one));
}
