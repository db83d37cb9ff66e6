// One line per family: its maker.
#pragma once
#include "zoo/model.h"

namespace tidemark {

std::unique_ptr<Model> make_clip(const ModelRequest& request);
std::unique_ptr<Model> make_gpt_neo(const ModelRequest& request);
std::unique_ptr<Model> make_gpt_neox(const ModelRequest& request);
std::unique_ptr<Model> make_llama(const ModelRequest& request);
std::unique_ptr<Model> make_llava(const ModelRequest& request);
std::unique_ptr<Model> make_mistral(const ModelRequest& request);
std::unique_ptr<Model> make_mixtral(const ModelRequest& request);
std::unique_ptr<Model> make_olmoe(const ModelRequest& request);
std::unique_ptr<Model> make_opt(const ModelRequest& request);
std::unique_ptr<Model> make_phi3(const ModelRequest& request);
std::unique_ptr<Model> make_qwen2(const ModelRequest& request);
std::unique_ptr<Model> make_qwen2_moe(const ModelRequest& request);
std::unique_ptr<Model> make_qwen2_vl(const ModelRequest& request);
std::unique_ptr<Model> make_qwen3(const ModelRequest& request);
std::unique_ptr<Model> make_qwen3_moe(const ModelRequest& request);
std::unique_ptr<Model> make_siglip(const ModelRequest& request);
std::unique_ptr<Model> make_vit(const ModelRequest& request);

// What other models take as a part.
Decoder llama_decoder(const Value& config);
Decoder mistral_decoder(const Value& config);
Decoder phi3_decoder(const Value& config);
Decoder qwen2_decoder(const Value& config);
Decoder qwen3_decoder(const Value& config);
VisionTower clip_vision_tower(const Value& config);
VisionTower siglip_vision_tower(const Value& config);

}  // namespace tidemark
