#!/bin/sh
# Makes the Python environments that rows of this corpus name, and writes FOLDER/variables.sh, which says where they are:
#     validation/published/prepare.sh FOLDER [NAME …]        then  . FOLDER/variables.sh
# Everything is installed without dependencies, so that NVIDIA's packages (but for cuDNN) stay away. A list that begins with "-r BASE.txt" starts from that environment's
# files, linked and not copied: a PyTorch with its cuDNN is 2.5 GB, and lies on the disk once for each version.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { sed -n '2,5p' "$0" >&2; exit 2; }
folder=$1
shift
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
[ $# -ge 1 ] || set -- $(cd "$here/environments" && ls | sed 's/\.txt$//')

packages_of() { # the folder of an environment's packages
    "$folder/$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
}

prepare() { # NAME; a finished environment has the list that it was made from
    if ! cmp -s "$here/environments/$1.txt" "$folder/$1/requirements.txt"; then
        base=$(sed -n '1s/^-r \(.*\)\.txt$/\1/p' "$here/environments/$1.txt")
        if [ -n "$base" ]; then (prepare "$base"); fi
        echo "$1" >&2
        python3 -m venv --clear "$folder/$1"
        if [ -n "$base" ]; then cp -alf "$(packages_of "$base")/." "$(packages_of "$1")"; fi
        "$folder/$1/bin/python" -m pip install --quiet --no-deps -r "$here/environments/$1.txt"
        cp "$here/environments/$1.txt" "$folder/$1/requirements.txt"
    fi
}

for name in "$@"; do
    prepare "$name"
done
for list in "$folder"/*/requirements.txt; do
    name=$(basename "$(dirname "$list")")
    echo "export TIDEMARK_PUBLISHED_$(echo "$name" | tr 'a-z.-' 'A-Z__')=$folder/$name/bin/python"
done >"$folder/variables.sh"
