# tidemark_quick_to_compile(target): code that runs once in a command, such as reading options and writing reports.  Optimized as far as it
# compiles quickly: with -O3 these files are most of the time of a build, for milliseconds.
function(tidemark_quick_to_compile target)
  target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU,Clang>>:-O1>)
endfunction()

# tidemark_compile_together(target [FILES n] [BUT FILE ...]): with TIDEMARK_COMPILE_TOGETHER, a dozen files at a time, or `n`, are one translation
# unit, which halves the time of a build: most of it is reading headers and instantiating their templates.  Names without linkage must then differ
# within a folder; files that are alike by design, with the same names in each, are left out.
function(tidemark_compile_together target)
  cmake_parse_arguments(together "" "FILES" "BUT" ${ARGN})
  if(NOT together_FILES)
    set(together_FILES 12)
  endif()
  if(TIDEMARK_COMPILE_TOGETHER)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${together_FILES})
    set_source_files_properties(${together_BUT} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()
