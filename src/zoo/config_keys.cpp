// Written by tools/trace/record_config_keys.py from transformers 5.17.0; do not edit.
#include "zoo/config_keys.h"

namespace tidemark {

// clang-format off
const char* const kKeysOfAllClasses =
    "architectures attention_chunk_size attention_dropout attn_implementation base_model_pp_plan base_model_tp_plan "
    "bos_token_id chunk_size_feed_forward distributed_config dtype eos_token_id experts_implementation fusion_config "
    "gradient_checkpointing id2label init_std initializer_factor initializer_range is_causal is_encoder_decoder "
    "label2id layer_types model_type name_or_path num_hidden_layers num_kv_shared_layers num_labels "
    "number_of_conv_states output_attentions output_hidden_states pad_token_id per_layer_config problem_type "
    "return_dict sep_token_id sliding_window sub_configs torch_dtype transformers_version transformers_weights";

namespace {

const ConfigClass kClasses[] = {
    {"llama",
     "attention_bias attention_dropout bos_token_id eos_token_id head_dim hidden_act hidden_size initializer_range "
     "intermediate_size max_position_embeddings mlp_bias num_attention_heads num_hidden_layers num_key_value_heads "
     "pad_token_id partial_rotary_factor pretraining_tp rms_norm_eps rope_parameters rope_scaling rope_theta "
     "tie_word_embeddings use_cache vocab_size",
     {}, false},
    {"mistral",
     "attention_dropout bos_token_id eos_token_id head_dim hidden_act hidden_size initializer_range intermediate_size "
     "layer_types max_position_embeddings num_attention_heads num_hidden_layers num_key_value_heads pad_token_id "
     "partial_rotary_factor rms_norm_eps rope_parameters rope_scaling rope_theta sliding_window tie_word_embeddings "
     "use_cache vocab_size",
     {}, false},
    {"mixtral",
     "attention_dropout bos_token_id eos_token_id head_dim hidden_act hidden_size initializer_range intermediate_size "
     "max_position_embeddings num_attention_heads num_experts num_experts_per_tok num_hidden_layers num_key_value_heads"
     " num_local_experts output_router_logits pad_token_id partial_rotary_factor rms_norm_eps rope_parameters "
     "rope_scaling rope_theta router_aux_loss_coef router_jitter_noise sliding_window tie_word_embeddings use_cache "
     "vocab_size",
     {}, false},
    {"olmoe",
     "attention_bias attention_dropout bos_token_id clip_qkv eos_token_id head_dim hidden_act hidden_size "
     "initializer_range intermediate_size max_position_embeddings norm_topk_prob num_attention_heads num_experts "
     "num_experts_per_tok num_hidden_layers num_key_value_heads num_local_experts output_router_logits pad_token_id "
     "partial_rotary_factor rms_norm_eps rope_parameters rope_scaling rope_theta router_aux_loss_coef sliding_window "
     "tie_word_embeddings use_cache vocab_size",
     {}, false},
    {"phi3",
     "attention_dropout bos_token_id embd_pdrop eos_token_id head_dim hidden_act hidden_size initializer_range "
     "intermediate_size max_position_embeddings num_attention_heads num_hidden_layers num_key_value_heads "
     "original_max_position_embeddings pad_token_id partial_rotary_factor resid_pdrop rms_norm_eps rope_parameters "
     "rope_scaling rope_theta sliding_window tie_word_embeddings use_cache vocab_size",
     {}, false},
    {"qwen2",
     "attention_dropout bos_token_id eos_token_id head_dim hidden_act hidden_size initializer_range intermediate_size "
     "layer_types max_position_embeddings max_window_layers num_attention_heads num_hidden_layers num_key_value_heads "
     "pad_token_id partial_rotary_factor rms_norm_eps rope_parameters rope_scaling rope_theta sliding_window "
     "tie_word_embeddings use_cache use_sliding_window vocab_size",
     {}, false},
    {"qwen2_moe",
     "attention_dropout bos_token_id decoder_sparse_step eos_token_id head_dim hidden_act hidden_size initializer_range"
     " intermediate_size layer_types max_position_embeddings max_window_layers mlp_only_layers moe_intermediate_size "
     "norm_topk_prob num_attention_heads num_experts num_experts_per_tok num_hidden_layers num_key_value_heads "
     "output_router_logits pad_token_id partial_rotary_factor qkv_bias rms_norm_eps rope_parameters rope_scaling "
     "rope_theta router_aux_loss_coef shared_expert_intermediate_size sliding_window tie_word_embeddings use_cache "
     "use_sliding_window vocab_size",
     {}, false},
    {"qwen2_vl",
     "embed_dim head_dim hidden_act hidden_size image_token_id intermediate_size max_position_embeddings mlp_ratio "
     "num_attention_heads partial_rotary_factor rope_parameters rope_scaling rope_theta text_config tie_word_embeddings"
     " video_token_id vision_config vision_end_token_id vision_start_token_id",
     {{"text_config", "qwen2_vl_text", false}, {"vision_config", "qwen2_vl_vision", false}}, true},
    {"qwen2_vl_text",
     "attention_dropout bos_token_id embed_dim eos_token_id hidden_act hidden_size image_token_id initializer_range "
     "intermediate_size layer_types max_position_embeddings max_window_layers mlp_ratio num_attention_heads "
     "num_hidden_layers num_key_value_heads pad_token_id partial_rotary_factor rms_norm_eps rope_parameters "
     "rope_scaling rope_theta sliding_window text_config tie_word_embeddings use_cache use_sliding_window "
     "video_token_id vision_start_token_id vocab_size",
     {}, false},
    {"qwen2_vl_vision",
     "depth embed_dim head_dim hidden_act hidden_size image_token_id in_channels initializer_range intermediate_size "
     "mlp_ratio num_attention_heads num_heads partial_rotary_factor patch_size rope_parameters rope_scaling rope_theta "
     "spatial_merge_size temporal_patch_size text_config video_token_id vision_start_token_id",
     {}, false},
    {"qwen3",
     "attention_bias attention_dropout bos_token_id eos_token_id head_dim hidden_act hidden_size initializer_range "
     "intermediate_size layer_types max_position_embeddings max_window_layers num_attention_heads num_hidden_layers "
     "num_key_value_heads pad_token_id partial_rotary_factor rms_norm_eps rope_parameters rope_scaling rope_theta "
     "sliding_window tie_word_embeddings use_cache use_sliding_window vocab_size",
     {}, false},
    {"qwen3_moe",
     "attention_bias attention_dropout bos_token_id decoder_sparse_step eos_token_id head_dim hidden_act hidden_size "
     "initializer_range intermediate_size max_position_embeddings mlp_only_layers moe_intermediate_size norm_topk_prob "
     "num_attention_heads num_experts num_experts_per_tok num_hidden_layers num_key_value_heads num_local_experts "
     "output_router_logits pad_token_id partial_rotary_factor rms_norm_eps rope_parameters rope_scaling rope_theta "
     "router_aux_loss_coef sliding_window tie_word_embeddings use_cache use_sliding_window vocab_size",
     {}, false},
};

}  // namespace
// clang-format on

std::span<const ConfigClass> config_classes() { return kClasses; }

}  // namespace tidemark
