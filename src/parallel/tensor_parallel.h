// torch.distributed.tensor.parallel.parallelize_module: matrices split over the devices of a mesh, by name patterns.
// torch: torch/distributed/tensor/parallel/{api,style}.py, _api.py (2.11.0)
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/module.h"
#include "parallel/redistribute.h"
#include "train/optimizer.h"

namespace tidemark {

/// ColwiseParallel, RowwiseParallel, SequenceParallel, PrepareModuleInput, PrepareModuleOutput
enum class ParallelStyle : std::uint8_t { colwise, rowwise, sequence, prepare_input, prepare_output };

/// One entry of a plan; what is not said is torch's default.
struct ParallelRule {
  std::string pattern;  // of modules' names; `*` stands for what is between two dots, or a part of it
  ParallelStyle style = ParallelStyle::colwise;
  std::optional<Placement> input_layouts = {}, output_layouts = {};
  Placement desired_layouts = {};  // of what is prepared
  std::optional<bool> use_local_output = {};
};

/// The hooks of a plan, on the modules that it names.
class TensorParallel {
 public:
  /// parallelize_module(root, mesh, plan).  Throws Error{bad_value} for a pattern that names nothing, unless `root` is
  /// a stage of a pipeline, which has some of the modules alone, and Error{unsupported} for what torch or this does not
  /// split.
  TensorParallel(Run& run, Module& root, const Mesh& mesh, const std::vector<ParallelRule>& plan, bool is_stage);
  ~TensorParallel();
  TensorParallel(const TensorParallel&) = delete;
  TensorParallel& operator=(const TensorParallel&) = delete;

  const Mesh& mesh() const { return mesh_; }
  /// How the gradient of a parameter lies on the devices.
  GradientPlacement placement_of(const Tensor& parameter) const;
  /// _pre_dp_module_transform: parameters become plain tensors, which all train, for a strategy that shares the data.
  /// torch: torch/distributed/tensor/parallel/ddp.py
  void localize(Module& root);
  /// _reconstruct_dtensor, in the first forward: DTensors are made of them, and stay: _localize_dtensor looks for
  /// parameters, which these are not.
  void reconstruct();

  /// Throws Error{unsupported} when a planned module has not been called as hooks see it.
  void check_called() const;

 private:
  struct Planned;
  void apply(Run& run, Module& module, const ParallelRule& rule);
  void split(Run& run, Module& module, std::string_view name, int dimension);
  void replicate(Module& module, std::string_view name);
  void split_linear(Run& run, Module& module, ParallelStyle style);
  void split_embedding(Run& run, Module& module);
  void replicate_all(Module& module);
  void hook(Planned& planned, const ParallelRule& rule, bool is_embedding);

  Mesh mesh_;
  std::vector<std::unique_ptr<Planned>> planned_;
  std::vector<std::pair<Parameter*, GradientPlacement>> locals_;
  std::vector<std::pair<const TensorImpl*, GradientPlacement>> placements_;  // of what is no part like its parameter
};

}  // namespace tidemark
