# Sanitizers go on the whole build: a library built without them would hide what happens inside it.
if(TIDEMARK_SANITIZE)
  add_compile_options(-fsanitize=${TIDEMARK_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TIDEMARK_SANITIZE})
endif()
if(TIDEMARK_BUILD_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
