// torch.distributed.pipelining (torch 2.11.0): the layers of a model in stages, one or more per GPU, and the batch in
// micro-batches that go through them.
#pragma once
#include "parallel/pipeline_schedule.h"
#include "train/hooks.h"

namespace tidemark {

struct PipelineOptions {
  PipelineShape shape;
  std::int64_t rank = 0;
  bool return_outputs = true;  // of schedule.step
};

/// schedule = ScheduleGPipe([PipelineStage(…), …], …) and the like.  `parts` are the rank's stages, on the device, in
/// their order, and `wrappers`, if there are any, what each is wrapped in; they and `run` must outlive the hooks.
StepHooks pipeline(Run& run, const std::vector<Model*>& parts, const PipelineOptions& options,
                   const std::vector<StepHooks>& wrappers = {});

}  // namespace tidemark
