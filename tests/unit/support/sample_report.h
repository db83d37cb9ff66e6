// A report with something in every field.
#pragma once
#include "estimate/report.h"
#include "estimate/verdict.h"

namespace tidemark {

inline constexpr std::int64_t kGiB = 1LL << 30;

inline Report sample_report() {
  Report report;
  report.card = {"h100-80gb", "NVIDIA H100 80GB HBM3", 80 * kGiB, kGiB / 8, kGiB / 2};
  report.peak = {60 * kGiB, 61 * kGiB, 0, 59 * kGiB, 2, Phase::backward};
  report.steps = {
      {1,
       50 * kGiB,
       55 * kGiB,
       20 * kGiB,
       {{Phase::forward, 40 * kGiB, 45 * kGiB, 40 * kGiB}, {Phase::backward, 50 * kGiB, 55 * kGiB, 20 * kGiB}}},
      {2, 60 * kGiB, 61 * kGiB, 30 * kGiB, {{Phase::optimizer, 60 * kGiB, 61 * kGiB, 30 * kGiB}}}};
  report.at_peak.by_category = {
      {"activations", 30 * kGiB}, {"parameters", 20 * kGiB}, {"gradients", 10 * kGiB}, {"workspace", 0}};
  report.at_peak.by_module = {{"model.layers.0.mlp", 60 * kGiB}};
  report.at_peak.by_line = {{"train.py:12 <loss & co>", 60 * kGiB}};
  report.at_peak.by_operation = {{"aten::mm, \"addmm\"", 60 * kGiB}};
  report.timeline = {{0, kGiB, 2 * kGiB, 0, Phase::load},
                     {10, 60 * kGiB, 61 * kGiB, 1, Phase::backward},
                     {20, 30 * kGiB, 61 * kGiB, 2, Phase::optimizer}};
  report.assumptions = {{"routing is balanced", "model.moe", 3}};
  report.versions = {{"torch", "2.11.0"}, {"tidemark", "0.1.0"}};
  report.script = {{"python", "train.py"}, 0, 2};
  report.host = {.peak_rss_bytes = 3 * kGiB, .seconds = 12.5, .pageable_bytes = {}, .pinned_bytes = {}};
  report.sources = {{"torch", "the default"}};
  report.consistent = true;
  judge(report);
  return report;
}

inline ServingReport sample_serving() {
  return {"vLLM",
          "0.33.0",
          {{"weights", kGiB}, {"KV cache", 32 * kGiB}},
          4096,
          16,
          32 * kGiB,
          65'536,
          4096,
          256,
          16.25,
          3,
          2,
          "HTTP 500: late",
          {},
          false};
}

inline OutOfMemoryReport sample_oom() {
  return {2 * kGiB, 78 * kGiB, "CUDA out of memory.", 1, Phase::backward, "train.py:12"};
}

}  // namespace tidemark
