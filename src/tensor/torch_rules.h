// What changed in PyTorch between releases, in one place.  A run has the rules of one release, and each is read where
// the behaviour is.
#pragma once
#include "memory/allocator_rules.h"
#include "tensor/torch_release.h"

namespace tidemark {

/// From whom a matrix product has the memory that cuBLAS works in.  torch: aten/src/ATen/cuda/CublasHandlePool.cpp
enum class BlasWorkspaces {
  kept,    // a thread makes it with its first product, and another for cublasLt (2.11.0: getNewWorkspace)
  shared,  // the same, and cublasLt works in that one (2.12.1: TORCH_CUBLASLT_UNIFIED_WORKSPACE is on)
  eager    // made for each product and let go of with it (2.15.0: isCUDABlasWorkspaceCachingEnabled() is off)
};

struct TorchRules {
  std::string_view version;  // that recordings are of
  std::string_view
      caveat;  // what of it has not been compared, or is not equal; empty for the one that all recordings are of
  AllocatorRules allocator;
  std::string_view cudnn = "9.19";  // that its wheel asks for
  BlasWorkspaces blas_workspaces = BlasWorkspaces::kept;
  /// 32 MiB on Blackwell as on Hopper.  torch: CublasHandlePool.cpp, parseChosenWorkspaceSize (2.12.1)
  bool blackwell_has_large_blas_workspaces = false;
  /// bmm over one element is a product of elements, without cuBLAS.  torch: aten/src/ATen/native/cuda/Blas.cpp,
  /// bmm_out_cuda_impl (2.13.0)
  bool multiplies_single_elements = false;
  /// cublasLt adds a matrix in half precision, too, not only a row.  torch: aten/src/ATen/native/cuda/Blas.cpp,
  /// isInputCompliesAddmmCudaLt (2.15.0)
  bool fuses_whole_bias = false;
  /// What linear gives of more dimensions than two is no view of the product's rows: what is added to it in place is
  /// not told to a base.  torch: aten/src/ATen/native/Linear.cpp, _flatten_nd_linear (2.15.0)
  bool linear_gives_no_view = false;
  /// A probability of dropout that is no multiple of 1/16 is nothing for cuDNN.  torch: aten/src/ATen/native/
  /// transformers/cuda/sdp_utils.cpp, check_cudnn_dropout (2.12.1)
  bool cudnn_drops_sixteenths = false;
  /// Heads of up to 256 on Blackwell, too, and with a gradient of 256, of 192 with 128, or of up to 128.  torch:
  /// sdp_utils.cpp, check_cudnn_d256_bprop_head_dim (2.14.1)
  bool cudnn_names_large_heads = false;
  /// Not for a single query on Blackwell: with cuDNN 9.24, which torch 2.14.1 brings.  torch: sdp_utils.cpp,
  /// is_cudnn_attention_decode_disabled (2.14.1)
  bool cudnn_does_not_decode = false;
  /// src/ops/attention_cudnn.cpp, Note [cuDNN's workspaces]: of cuDNN 9.26, which torch 2.15.0 brings
  bool cudnn_counts_tiles_of_keys = false;
  /// The efficient kernel takes fewer heads of keys than of queries.  torch: sdp_utils_cpp.h,
  /// check_batch_size_and_num_heads_dense<supports_gqa> (2.14.1)
  bool efficient_attention_groups_heads = false;
  /// Keys and values of one head are every query's without enable_gqa, too: torch._fused_sdp_choice takes a fused
  /// kernel for these (2.14.1 and 2.15.0; the math one in 2.11.0)
  bool one_head_is_for_all = false;
  /// It returns seed and offset as tensors on the device.  torch: aten/src/ATen/native/transformers/cuda/attention.cu,
  /// _efficient_attention_forward (2.14.1)
  bool efficient_attention_has_random_state = false;
  /// The gradient of an embedding sorts indices by the bits that they can have, not by all 64.  torch: aten/src/ATen/
  /// native/cuda/Embedding.cu, embedding_dense_backward_cuda, nbits (2.13.0)
  bool sorts_indices_by_known_bits = false;
  /// CUB takes another number of keys per block to find those that differ: cub/device/dispatch/tuning/
  /// tuning_unique_by_key.cuh, as torch is compiled with it (CUDA 13.2, 2.15.0); found by recording.
  bool has_newer_unique_tiles = false;
  /// histc without a range has the smallest and the largest number at once.  torch: aten/src/ATen/native/cuda/
  /// SummaryOps.cu, _histc_cuda_template (2.13.0)
  bool finds_both_ends = false;
  /// repeat_interleave looks for the least repeat, not for whether all are positive.  torch: aten/src/ATen/native/
  /// Repeat.cpp, repeat_interleave_common (2.15.0)
  bool finds_least_repeat = false;
  /// _foreach_norm has as many partial norms as there are chunks, and where each tensor's begin; or as many for each
  /// tensor as the longest has.  torch: aten/src/ATen/native/cuda/ForeachReduceOp.cu, lpnorm_cleanup (2.15.0)
  bool packs_partial_norms = false;
  /// group_norm leaves channels last that are; of halves it finds mean and inverse deviation in float32 first; and its
  /// gradient takes no sums of channels that have one element.  torch: aten/src/ATen/native/group_norm.cpp,
  /// cuda/group_norm_kernel.cu, GroupNormKernelImplInternal, GroupNormBackwardKernelImplInternal (2.15.0)
  bool group_norm_has_newer_kernels = false;
  /// Autocast runs rms_norm in float32.  torch: aten/src/ATen/autocast_mode.h, AT_FORALL_FP32 (2.12.1)
  bool rms_norm_is_widened = false;
  /// Adagrad has a fused kernel for CUDA.  torch: aten/src/ATen/native/native_functions.yaml,
  /// _fused_adagrad_ (2.12.1)
  bool fuses_adagrad = false;
  /// The first tensor without data on a device makes one number there; the device was compared with its type, and is
  /// not equal.  torch: torch/_subclasses/fake_tensor.py, init_gpu_context (2.12.1)
  bool fake_tensors_begin_on_device = true;
  /// A stage of a pipeline finds its sizes by a forward and a backward pass of its own.  torch: torch/distributed/
  /// pipelining/stage.py, _forward_metadata_inference, _backward_metadata_inference (2.12.1)
  bool stages_measure_themselves = false;
  /// It keeps a copy of its buffers meanwhile.  torch: stage.py, _pre_metadata_inference_backup (2.14.1)
  bool stages_back_up_buffers = false;
  /// It makes what it receives into for each message, and lets go of what has been sent.  torch: torch/distributed/
  /// pipelining/_recv_buffers.py, _RecvInfo; schedules.py, _wait_and_release_fwd_send (2.15.0)
  bool stages_hold_messages_briefly = false;
  /// Ranks of a pipeline agree by an all_reduce whether sizes are static.  torch: torch/distributed/pipelining/
  /// schedules.py, `dist.all_reduce(vote` (2.15.0)
  bool stages_vote = false;
  /// The gradient of maximum finds where the other is larger before it halves.  torch: tools/autograd/derivatives.yaml,
  /// maximum: the order of arguments is the compiler's (2.14.1)
  bool maximum_compares_first = false;
  /// What a barrier is given is let go of with it, not with the next.  torch: torch/csrc/distributed/c10d/
  /// ProcessGroup.hpp, barrier (2.12.1)
  bool lets_go_of_barriers = false;
  /// What barriers reduce is made once and kept.  torch: torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, barrier
  /// (2.15.0)
  bool keeps_number_of_barriers = false;
  /// A list of tensors is gathered where it lies, not in one that is then split.  torch: ProcessGroupNCCL.cpp,
  /// allgather (2.15.0)
  bool gathers_into_lists = false;
  /// What is a sum over devices is multiplied where its parts are, and summed up later.  torch:
  /// torch/distributed/tensor/ _ops/_pointwise_ops.py, binary_mul_ops (2.12.1)
  bool multiplies_sums_in_parts = false;
  /// Which tokens each rank has is found on the device, not copied to it.  torch:
  /// torch/distributed/tensor/experimental/ _context_parallel/_load_balancer.py,
  /// _HeadTailLoadBalancer._generate_indices (2.12.1)
  bool balances_tokens_on_device = false;
  /// Of ring attention's turns the first one's seed and offset are kept, not the last one's.  torch: _attention.py,
  /// _templated_ring_attention (2.14.1)
  bool ring_keeps_first_random_state = false;
  /// FSDP2 lets go of what it gathered for the group before as soon as that has been waited for, and of the last
  /// gradient with the others: no name outlives it.  torch: torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py,
  /// release_all_gather_state_for_comm_reuse; _fsdp_collectives.py, _default_reduce_scatter_input_fn (2.15.0)
  bool fsdp2_keeps_few_names = false;
  /// Where not all modules of a group were called, its part behind them comes at the end of the root's forward.
  /// torch: _fsdp_state.py, _force_complete_incomplete_states (2.15.0)
  bool fsdp2_completes_groups = false;
  /// It lets go of what it last scattered even where it has no gradient to reduce.  torch: _fsdp_param_group.py,
  /// post_backward (2.12.1)
  bool fsdp2_recycles_without_gradients = false;
  /// The last of the states that a loop there waits for keeps its name, rs_state, until the function returns (2.12.1,
  /// not 2.13.0)
  bool fsdp2_names_last_state = false;
  /// At the end of a backward pass all groups have reduced before the first is finalized.  torch: _fsdp_state.py,
  /// _end_backward_iteration (2.15.0)
  bool fsdp2_finalizes_all_at_once = false;
  /// Gradients that wait for their reduction stay the leaf's, which has them in the type that they are reduced in, by
  /// default the type of its shard.  torch: _fsdp_param_group.py, _set_unsharded_grad_dtypes, _get_reduce_dtype
  /// (2.15.0)
  bool fsdp2_gradients_are_wide = false;
  /// The gradients that a torch.autograd.Function is given die with its call, before what it returns is cast.  torch:
  /// torch/csrc/autograd/python_function.cpp, PyNode::apply (2.15.0)
  bool python_functions_let_go_of_gradients = false;
  /// A number that is set where indices say, x[:, i] = 0, goes to a kernel; before it was a tensor on the device.
  /// torch: aten/src/ATen/TensorIndexing.h, try_dispatch_index_fill_ (2.15.0)
  bool fills_at_indices = false;
  /// The scaled queries of a multi-head attention and its keys die once they are multiplied, its values after theirs.
  /// torch: torch/nn/functional.py, multi_head_attention_forward (2.13.0)
  bool multi_head_attention_lets_go = false;
};

}  // namespace tidemark
