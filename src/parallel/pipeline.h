// torch.distributed.pipelining (torch 2.11.0 to 2.15.0): the layers of a model in stages, one or more per GPU, and the
// batch in micro-batches that go through them.
#pragma once
#include "parallel/pipeline_schedule.h"
#include "train/hooks.h"

namespace tidemark {

struct PipelineOptions {
  PipelineShape shape;
  std::int64_t rank = 0;
  bool return_outputs = true;       // of schedule.step
  bool keeps_sent_outputs = false;  // stages need them after they were sent
  std::int64_t first_trained = 0;   // the first stage whose output has a gradient
};

/// schedule = ScheduleGPipe([PipelineStage(…), …], …) and the like.  `parts` are the rank's stages, on the device, in
/// their order, and `wrappers`, if there are any, what each is wrapped in; they and `run` must outlive the hooks.
StepHooks pipeline(Run& run, const std::vector<Model*>& parts, const PipelineOptions& options,
                   const std::vector<StepHooks>& wrappers = {});

}  // namespace tidemark
