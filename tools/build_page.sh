#!/usr/bin/env bash
# The page that predicts in the browser, build/page/site: static files that any server serves, and that open from a folder too.
# Needs Debian's emscripten and npm, which tools/setup.sh --page installs.  Run again, it does only what is not done.
# The page links to the documents' site if tools/build_docs.sh has built it, and to the source if DOCS_REPOSITORY says where that is (mkdocs.yml).
set -euo pipefail
cd "$(dirname "$0")/.."
site=build/page/site
apps/web/dependencies.sh build/page-dependencies
cmake --preset page > /dev/null
# emscripten's own modules lie where Debian's Node.js looks for them, and another one does not.
NODE_PATH=/usr/share/nodejs cmake --build --preset page --target tidemark_page

mkdir -p $site/programs
tools/build_report_page.sh build/page/made   # and with it what npm installs

bundled() {
  NODE_PATH=build/page/npm/node_modules build/page/npm/node_modules/.bin/esbuild "$1" --bundle --minify --format=iife --log-level=warning --outfile="$2" "${@:3}"
}
bundled apps/web/page/worker.js build/page/made/worker.js
node apps/web/files.mjs build/page/made $site
rm -rf $site/documents
[ ! -f build/site/index.html ] || cp -r build/site $site/documents
bundled apps/web/page/main.js $site/page.js --alias:tidemark-models="$PWD/build/page/made/models.json" \
  --define:TIDEMARK_DOCUMENTS="$([ -d $site/documents ] && echo true || echo false)" --define:TIDEMARK_REPOSITORY="\"${DOCS_REPOSITORY:-}\""
cp apps/web/page/{index.html,style.css,icon.svg} build/page/npm/node_modules/uplot/dist/uPlot.min.css $site
# What makes the folder a static Space of the Hugging Face hub, which takes files over 10 MB by LFS alone.
cp apps/web/page/space.md $site/README.md
printf '%s filter=lfs diff=lfs merge=lfs -text\n' '*.wasm' tidemark.wasm.js > $site/.gitattributes
du -sh --apparent-size $site
