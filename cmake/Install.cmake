# bin/tidemark, lib/tidemark/libtidemark_gpu.so, share/tidemark/{data,python,torch_extension,validation}: apps/cli/resources.cpp
# looks for exactly this layout beside the executable.
if(TARGET tidemark_cli)
  install(TARGETS tidemark_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET tidemark_gpu)
  install(TARGETS tidemark_gpu LIBRARY DESTINATION lib/tidemark)
endif()
install(DIRECTORY data/ DESTINATION share/tidemark/data FILES_MATCHING PATTERN "*.json")
install(DIRECTORY validation/ DESTINATION share/tidemark/validation FILES_MATCHING PATTERN "*.json" PATTERN "*.jsonl" PATTERN "*.py"
  PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY python/ DESTINATION share/tidemark/python PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY virtual_gpu/torch_extension virtual_gpu/replay DESTINATION share/tidemark
  FILES_MATCHING PATTERN "*.cpp" PATTERN "*.h" PATTERN "without.txt")
