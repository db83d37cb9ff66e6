#!/usr/bin/env bash
# The pages that the command writes (--html), data/report_page.html and data/validation_page.html, from apps/web/report, apps/web/validation
# and the components of apps/web/page.  They are kept in the repository: building the command needs no npm.  tests/page compares them with what
# this makes.
#   tools/build_report_page.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
pages=${1:-data}
made=build/page/made
npm=build/page/npm
mkdir -p "$made" "$npm"
cp apps/web/package.json apps/web/package-lock.json "$npm"
cmp -s apps/web/package-lock.json "$npm/installed" || { npm ci --silent --prefix "$npm" && cp apps/web/package-lock.json "$npm/installed"; }

for page in report validation; do
  for source in main.js $page.css; do
    NODE_PATH=$npm/node_modules "$npm/node_modules/.bin/esbuild" "apps/web/$page/$source" --bundle --minify --format=iife --log-level=warning --outfile="$made/${page}_$source"
  done
  node apps/web/report/build.mjs "$made/${page}_main.js" "$made/${page}_$page.css" apps/web/$page/index.html "$pages/${page}_page.html"
done
