# tidemark_warnings(target): the warnings that this project's own targets are built with.
# GCC 12 warns falsely of overlapping copies in operator+ of std::string (GCC bug 105651).
function(tidemark_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    $<$<BOOL:${TIDEMARK_WERROR}>:-Werror>)
endfunction()
