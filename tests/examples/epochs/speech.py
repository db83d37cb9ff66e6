"""Speech of many lengths into a wav2vec2 with CTC, drawn by two workers."""

import random

import torch
from torch.utils.data import DataLoader
from transformers import Wav2Vec2Config, Wav2Vec2ForCTC

random.seed(0)
torch.manual_seed(0)


def collate(rows):
    pad = torch.nn.utils.rnn.pad_sequence
    return {"input_values": pad([sound for sound, _ in rows], batch_first=True), "labels": pad([text for _, text in rows], batch_first=True, padding_value=-100)}


rows = [(torch.randn(random.randint(8000, 48000)), torch.randint(1, 31, (random.randint(4, 12),))) for _ in range(200)]
config = Wav2Vec2Config(vocab_size=32, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, conv_dim=(32,) * 7, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4, layerdrop=0.0, mask_time_prob=0.0)
model = Wav2Vec2ForCTC(config).cuda().train()
optimizer = torch.optim.AdamW(model.parameters())
for batch in DataLoader(rows, batch_size=2, shuffle=True, collate_fn=collate, num_workers=2):
    model(**{name: tensor.cuda() for name, tensor in batch.items()}).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
