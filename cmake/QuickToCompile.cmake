# tidemark_quick_to_compile(target): code that runs once in a command, such as reading options and writing reports.  Optimized as far as it
# compiles quickly: with -O3 these files are most of the time of a build, for milliseconds.
function(tidemark_quick_to_compile target)
  target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU,Clang>>:-O1>)
endfunction()
