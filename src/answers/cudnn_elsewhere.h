// A convolution that no table has: cuDNN itself is asked by the command, which finds an environment that has it.
#pragma once
#include <atomic>

#include "base/error.h"
#include "ops/convolution_scratch.h"
#include "tensor/run.h"

namespace tidemark::answers {

/// Answers nothing, and notes that it was asked.  It must live as long as what it gave is called.
class CudnnElsewhere {
 public:
  AskCudnn ask() {
    return [this](std::string_view, std::int64_t) -> ConvolutionScratch {
      was_asked_ = true;
      throw Error(Errc::unsupported, "`tidemark predict` asks it where an environment with torch for CUDA is active");
    };
  }
  bool was_asked() const { return was_asked_; }

 private:
  std::atomic<bool> was_asked_ = false;
};

}  // namespace tidemark::answers
