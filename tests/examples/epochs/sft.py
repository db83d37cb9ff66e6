"""TRL's supervised fine-tuning: padded (two batches to a step), or packed."""

import sys
import tempfile

from datasets import Dataset
from trl import SFTConfig, SFTTrainer
from words import model, texts, tokenizer

packed = sys.argv[1] == "packed"
with tempfile.TemporaryDirectory() as folder:
    settings = SFTConfig(folder, per_device_train_batch_size=2, gradient_accumulation_steps=1 if packed else 2, num_train_epochs=1, max_length=512, packing=packed, bf16=True, report_to=[], save_strategy="no", gradient_checkpointing=False)
    SFTTrainer(model=model(), args=settings, train_dataset=Dataset.from_dict({"text": texts(480 if packed else 280, 20, 400)}), processing_class=tokenizer()).train()
