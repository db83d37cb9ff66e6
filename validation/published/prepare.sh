#!/bin/sh
# Makes the Python environments that rows of this corpus name, and writes FOLDER/variables.sh, which says where they are:
#     validation/published/prepare.sh FOLDER [NAME …]        then  . FOLDER/variables.sh
# Everything is pinned and installed without dependencies, so that NVIDIA's packages (but for cuDNN) stay away.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { sed -n '2,4p' "$0" >&2; exit 2; }
folder=$1
shift
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
[ $# -ge 1 ] || set -- $(cd "$here/environments" && ls | sed 's/\.txt$//')
for name in "$@"; do
    python3 -m venv "$folder/$name"
    "$folder/$name/bin/pip" install --quiet --no-deps -r "$here/environments/$name.txt"
    variable=TIDEMARK_PUBLISHED_$(echo "$name" | tr 'a-z.-' 'A-Z__')
    echo "export $variable=$folder/$name/bin/python" >>"$folder/variables.sh"
done
