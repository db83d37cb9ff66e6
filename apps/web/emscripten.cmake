# The toolchain that compiles the core to WebAssembly: Debian's emscripten, with WebAssembly's own exceptions.
include(/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake)
# What apps/web/dependencies.sh has made.
get_filename_component(dependencies ${CMAKE_CURRENT_LIST_DIR}/../../build/page-dependencies ABSOLUTE)
list(APPEND CMAKE_FIND_ROOT_PATH ${dependencies})
set(CMAKE_CXX_FLAGS_INIT "-fwasm-exceptions -isystem ${dependencies}/libcxx -include ${CMAKE_CURRENT_LIST_DIR}/missing_of_libcxx13.h")
