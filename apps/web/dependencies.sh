#!/usr/bin/env bash
# The libraries that the core links, compiled to WebAssembly from Debian's own sources: what apt has of them is compiled for the host.
#   apps/web/dependencies.sh PREFIX
set -euo pipefail
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
sources=(fmtlib nlohmann-json3 yaml-cpp)

# The order in which a vector lets go of its elements is part of the answer, and no standard's: PyTorch's and the command's is
# libstdc++'s, from the first on; libc++'s is from the last.
if [ ! -f "$prefix/libcxx/vector" ]; then
  mkdir -p "$prefix/libcxx"
  sed '/__vector_base<_Tp, _Allocator>::__destruct_at_end(pointer __new_last)/,/^}/c\
__vector_base<_Tp, _Allocator>::__destruct_at_end(pointer __new_last) _NOEXCEPT\
{\
    for (pointer __p = __new_last; __p != __end_; ++__p)\
        __alloc_traits::destroy(__alloc(), _VSTD::__to_address(__p));\
    __end_ = __new_last;\
}' /usr/share/emscripten/cache/sysroot/include/c++/v1/vector > "$prefix/libcxx/vector.new"
  grep -q '__p != __end_; ++__p' "$prefix/libcxx/vector.new" || { echo "libc++'s <vector> is not as it was" >&2; exit 1; }
  mv "$prefix/libcxx/vector.new" "$prefix/libcxx/vector"
fi

# Headers alone, the same for every machine.
[ -d "$prefix/include/toml++" ] || { mkdir -p "$prefix/include" && cp -r /usr/include/toml++ "$prefix/include/"; }

# Debian's lists of sources are not read by default; they are read here, in a folder of their own.
apt_folder=$prefix/apt
mkdir -p "$apt_folder/lists/partial" "$apt_folder/parts"
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
  [ ! -f "$list" ] || sed -n 's/^deb /deb-src /p' "$list" > "$apt_folder/parts/$(basename "$list")"
done
for list in /etc/apt/sources.list.d/*.sources; do
  [ ! -f "$list" ] || sed 's/^Types:.*/Types: deb-src/' "$list" > "$apt_folder/parts/$(basename "$list")"
done
apt=(apt-get -qq -o Acquire::Retries=5 -o Dir::Etc::sourcelist=- -o Dir::Etc::sourceparts="$apt_folder/parts" -o Dir::State::lists="$apt_folder/lists" -o APT::Sandbox::User=root)

for source in "${sources[@]}"; do
  [ ! -f "$prefix/$source.installed" ] || continue
  [ -n "$(ls "$apt_folder/lists/"*_Sources 2>/dev/null)" ] || "${apt[@]}" update
  rm -rf "${prefix:?}/$source"
  mkdir "$prefix/$source"
  (cd "$prefix/$source" && "${apt[@]}" source --download-only "$source" && mkdir unpacked && tar xf ./*.orig.tar.* -C unpacked --strip-components 1)
  emcmake cmake -S "$prefix/$source/unpacked" -B "$prefix/$source/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" \
    -DCMAKE_CXX_FLAGS="-fwasm-exceptions -O2" -DCMAKE_CXX_STANDARD=17 -DFMT_TEST=OFF -DFMT_DOC=OFF -DJSON_BuildTests=OFF -DYAML_CPP_BUILD_TESTS=OFF -DYAML_CPP_BUILD_TOOLS=OFF \
    -DYAML_CPP_BUILD_CONTRIB=OFF > "$prefix/$source/log" 2>&1 &&
    cmake --build "$prefix/$source/build" >> "$prefix/$source/log" 2>&1 && cmake --install "$prefix/$source/build" >> "$prefix/$source/log" 2>&1 ||
    { cat "$prefix/$source/log" >&2; exit 1; }
  touch "$prefix/$source.installed"
done
