// Tidemark in somebody else's process, over a C interface: libtidemark_core.so, which python/tidemark/core.py loads.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// Of the format of questions and answers; what loads the library looks at it first.
#define TIDEMARK_CORE_INTERFACE 1
int tidemark_core_interface(void);

/// What is known, of a folder that is laid out as data/; NULL, and why as JSON in *error (free with tidemark_free), when it cannot be read.
void* tidemark_open(const char* folder, char** error);

/// The answer to a question (JSON) about a topic of src/answers/topics.h; free it with tidemark_free.  *is_good tells it from an error.
/// Any number of threads may ask at once.  NULL where there is no memory for the answer.
char* tidemark_ask(void* opened, const char* topic, const char* question, int* is_good);

void tidemark_free(char* text);

#ifdef __cplusplus
}
#endif
