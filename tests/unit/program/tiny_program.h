// A program of one layer: tokens, an embedding, a checkpointable block, a head that is tied to the embedding, a loss.
#pragma once
#include <string>

namespace tidemark {

inline std::string tiny_program() {
  return R"(tidemark-program 1
model_type tiny
class TinyForCausalLM
transformers 5.17.0
torch 2.11.0
attention sdpa
cache false
T bfloat16
sizes B=2 S=8
input input_ids: int64[B, S]
input labels: int64[B, S]
config {"model_type": "tiny", "width": 64, "layers": 2}

modules TinyForCausalLM
  embed: nn.Embedding
    param weight: T[100, width]
  layers: nn.ModuleList
    0..layers - 1: TinyLayer checkpointable
      norm: TinyNorm
        param weight: T[64]
      up: nn.Linear
        param weight: T[128, 64]
        param bias: float32[128] frozen
  head: nn.Linear
    param weight = embed.weight

class Embedding#1(0: int64[B, S]):
  %0: T[B, S, 64] = torch.nn.functional.embedding($0, self.weight)
  return %0

class Linear#1(0: T[B, S, 64]):
  %0: T[B, S, 128] = torch.nn.functional.linear($0, self.weight, self.bias)
  return %0

class Linear#2(0: T[B, S, 64]):
  %0: T[B, S, 100] = torch.nn.functional.linear($0, self.weight, None)
  return %0

class TinyNorm#1(0: T[B, S, 64]):
  %0: T[B, S, 64] = torch.Tensor.mul(self.weight, $0)  # times one number a column
  return %0

class TinyLayer#1(0: T[B, S, 64]) checkpointable:
  %0: T[B, S, 64] = call norm: TinyNorm#1(0=$0)
  %1: T[B, S, 128] = call up: Linear#1(0=%0)
  del %0
  %2: T[B, S, 64] view, %3: T[B, S, 64] view = torch.chunk(%1, 2, dim=-1)
  del %1
  %4: T[B, S, 64] = torch.Tensor.mul(%2, %3)
  del %2 %3
  return %4

class TinyForCausalLM#1(input_ids: int64[B, S], labels: int64[B, S]):
  %0: T[B, S, 64] = call embed: Embedding#1(0=$input_ids)
  repeat i in 0..layers - 1:
    %1: T[B, S, 64] = call layers.{i}: TinyLayer#1(0=%0)
    next %0=%1
  %2: T[B, S, 100] = call head: Linear#2(0=%0)
  del %0
  %3: float32[B, S, 100] = torch.Tensor.float(%2)
  %4: float32[B*S, 100] view = torch.Tensor.view(%3, -1, 100)
  del %3
  %5: int64[B*S] view = torch.Tensor.view($labels, -1)
  %6: float32[] = torch.nn.functional.cross_entropy(%4, %5)
  del %4 %5
  hold %2
  return loss=%6
)";
}

}  // namespace tidemark
