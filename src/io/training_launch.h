// How a trainer is started: the launcher of a shell script, and the environment of the script or of a file's `env`.
#pragma once
#include "io/training_arguments.h"

namespace tidemark::io {

/// Takes `launcher` and `env`: the number of GPUs, the allocator's settings, limits of images.  Other variables are
/// named once as not read.
void read_launch(TrainingKeys& keys, TrainingArguments& arguments, TrainingDraft& draft);

}  // namespace tidemark::io
