#include "tensor/torch_rules.h"

#include <optional>

#include "base/release.h"

namespace tidemark {
namespace {

/// Each release has the rules of the one before it, but for what is said here.
std::vector<TorchRules> made() {
  std::vector<TorchRules> all;
  TorchRules rules;
  const auto add = [&](std::string_view version) {
    rules.version = version;
    rules.allocator = allocator_rules(version);
    all.push_back(rules);
  };
  add("2.11.0");
  rules.caveat =
      "a few of its steps have been recorded, of pipelines with DistributedDataParallel not equal ones; which of equal free "
      "blocks it takes follows from the order of frees, which is not told of a checkpoint's attention: allocated bytes were "
      "up to 0.03 % off";
  rules.cudnn = "9.20";
  rules.blas_workspaces = BlasWorkspaces::shared;
  rules.blackwell_has_large_blas_workspaces = true;
  rules.cudnn_drops_sixteenths = true;
  rules.fake_tensors_begin_on_device = false;
  rules.multiplies_sums_in_parts = true;
  rules.stages_measure_themselves = true;
  rules.fuses_adagrad = true;
  rules.balances_tokens_on_device = true;
  rules.lets_go_of_barriers = true;
  rules.rms_norm_is_widened = true;
  rules.fsdp2_recycles_without_gradients = true;
  rules.fsdp2_names_last_state = true;
  add("2.12.1");
  rules.fsdp2_names_last_state = false;
  rules.sorts_indices_by_known_bits = true;
  rules.finds_both_ends = true;
  rules.multiplies_single_elements = true;
  rules.caveat =
      "its steps on one GPU and a quarter of those on several have been recorded; of pipelines with "
      "DistributedDataParallel not equal ones";
  rules.multi_head_attention_lets_go = true;
  add("2.13.0");
  rules.caveat = "a third of its steps have been recorded; of pipelines with DistributedDataParallel not equal ones";
  rules.cudnn = "9.24";
  rules.cudnn_names_large_heads = true;
  rules.cudnn_does_not_decode = true;
  rules.efficient_attention_groups_heads = true;
  rules.one_head_is_for_all = true;
  rules.stages_back_up_buffers = true;
  rules.maximum_compares_first = true;
  rules.efficient_attention_has_random_state = true;
  rules.ring_keeps_first_random_state = true;
  add("2.14.1");
  rules.caveat = {};
  rules.cudnn = "9.26";
  rules.blas_workspaces = BlasWorkspaces::eager;
  rules.fuses_whole_bias = true;
  rules.linear_gives_no_view = true;
  rules.cudnn_does_not_decode = false;
  rules.cudnn_counts_tiles_of_keys = true;
  rules.packs_partial_norms = true;
  rules.group_norm_has_newer_kernels = true;
  rules.finds_least_repeat = true;
  rules.keeps_number_of_barriers = true;
  rules.gathers_into_lists = true;
  rules.stages_hold_messages_briefly = true;
  rules.stages_vote = true;
  rules.fsdp2_keeps_few_names = true;
  rules.fsdp2_completes_groups = true;
  rules.fsdp2_finalizes_all_at_once = true;
  rules.fsdp2_gradients_are_wide = true;
  rules.python_functions_let_go_of_gradients = true;
  rules.fills_at_indices = true;
  rules.has_newer_unique_tiles = true;
  add("2.15.0");
  return all;
}

const std::vector<TorchRules>& rows() {
  static const std::vector<TorchRules> rows = made();
  return rows;
}

}  // namespace

std::vector<std::string_view> known_torch_versions() {
  std::vector<std::string_view> versions;
  for (const TorchRules& rules : rows()) versions.push_back(rules.version);
  return versions;
}

const TorchRules& torch_rules() { return torch_rules("2.11.0"); }

const TorchRules& torch_rules(std::string_view version) {
  const std::optional<Release> release = release_of(version);
  const TorchRules* nearest = &rows().front();
  for (const TorchRules& rules : rows())
    if (release && *release >= *release_of(rules.version)) nearest = &rules;
  return *nearest;
}

}  // namespace tidemark
