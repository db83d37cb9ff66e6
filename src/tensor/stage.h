// A stage of a program, as its trainer names it.
#pragma once
#include <string>
#include <utility>

#include "tensor/run.h"

namespace tidemark {

/// The stage runs as long as this lives.
class InStage {
 public:
  InStage(Run& run, std::string name) : timeline_(run.timeline()) { timeline_.begin_stage(std::move(name)); }
  ~InStage() { timeline_.end_stage(); }
  InStage(const InStage&) = delete;
  InStage& operator=(const InStage&) = delete;

 private:
  Timeline& timeline_;
};

}  // namespace tidemark
