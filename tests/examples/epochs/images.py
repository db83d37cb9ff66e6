"""A Qwen2-VL on images of many sizes, with texts of many lengths."""

import random

import torch
from torch.utils.data import DataLoader, Dataset
from transformers import Qwen2VLConfig, Qwen2VLForConditionalGeneration

random.seed(0)
torch.manual_seed(0)
BEGIN, IMAGE, END = 502, 500, 503
TEXT = {"vocab_size": 512, "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "rope_scaling": {"type": "mrope", "mrope_section": [4, 6, 6]}}
VISION = {"depth": 2, "embed_dim": 64, "hidden_size": 128, "num_heads": 4, "patch_size": 14, "spatial_merge_size": 2}


class Images(Dataset):
    def __init__(self, count):
        self.sizes = [(random.randint(2, 12), random.randint(2, 12), random.randint(10, 200)) for _ in range(count)]

    def __len__(self):
        return len(self.sizes)

    def __getitem__(self, i):
        height, width, length = self.sizes[i]
        ids = torch.cat([torch.tensor([BEGIN]), torch.full((height * width,), IMAGE), torch.tensor([END]), torch.randint(3, 490, (length,))])
        return {"input_ids": ids, "pixel_values": torch.randn(4 * height * width, 3 * 2 * 14 * 14), "image_grid_thw": torch.tensor([[1, 2 * height, 2 * width]])}


def collate(rows):
    ids = torch.nn.utils.rnn.pad_sequence([row["input_ids"] for row in rows], batch_first=True)
    joined = {name: torch.cat([row[name] for row in rows]) for name in ("pixel_values", "image_grid_thw")}
    return {"input_ids": ids, "labels": ids.clone(), "attention_mask": (ids != 0).long(), "mm_token_type_ids": (ids == IMAGE).int(), **joined}


config = Qwen2VLConfig(text_config=TEXT, vision_config=VISION, image_token_id=IMAGE, video_token_id=501, vision_start_token_id=BEGIN, vision_end_token_id=END)
model = Qwen2VLForConditionalGeneration(config).cuda().bfloat16()
optimizer = torch.optim.AdamW(model.parameters())
for batch in DataLoader(Images(240), batch_size=2, shuffle=True, collate_fn=collate):
    model(**{name: tensor.cuda() for name, tensor in batch.items()}).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
