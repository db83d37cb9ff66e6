#!/usr/bin/env bash
# The page of a report (--html), data/report_page.html, from apps/web/report and the components of apps/web/page.  It is kept in the
# repository: building the command needs no npm.  tests/page compares it with what this makes.
set -euo pipefail
cd "$(dirname "$0")/.."
page=${1:-data/report_page.html}
made=build/page/made
npm=build/page/npm
mkdir -p "$made" "$npm"
cp apps/web/package.json apps/web/package-lock.json "$npm"
cmp -s apps/web/package-lock.json "$npm/installed" || { npm ci --silent --prefix "$npm" && cp apps/web/package-lock.json "$npm/installed"; }

for source in main.js report.css; do
  NODE_PATH=$npm/node_modules "$npm/node_modules/.bin/esbuild" "apps/web/report/$source" --bundle --minify --format=iife --log-level=warning --outfile="$made/report_$source"
done
node apps/web/report/build.mjs "$made/report_main.js" "$made/report_report.css" "$page"
