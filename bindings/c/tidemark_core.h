// Tidemark in somebody else's process, over a C interface: libtidemark_core.so, which python/tidemark/core.py loads.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// Of the format of questions and answers; what loads the library looks at it first.
#define TIDEMARK_CORE_INTERFACE 2
int tidemark_core_interface(void);

/// What is known, of a folder that is laid out as data/; NULL, and why as JSON in *error (free with tidemark_free),
/// when it cannot be read.
void* tidemark_open(const char* folder, char** error);

/// The answer to a question (JSON) about a topic of src/answers/topics.h; free it with tidemark_free.  *is_good tells
/// it from an error. Any number of threads may ask at once.  NULL where there is no memory for the answer.
char* tidemark_ask(void* opened, const char* topic, const char* question, int* is_good);

/// The same, with somebody who is told how far a plan is: `tell` gets its `context` and a JSON text, from several
/// threads but by one at a time, and anything but 0 that it returns ends the plan with an error.
typedef int (*tidemark_tell)(void* context, const char* progress);
char* tidemark_ask_and_be_told(void* opened, const char* topic, const char* question, int* is_good, tidemark_tell tell,
                               void* context);

void tidemark_free(char* text);

#ifdef __cplusplus
}
#endif
