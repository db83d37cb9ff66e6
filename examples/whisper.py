"""Fine-tuning Whisper-small with the `transformers` Seq2SeqTrainer, fp16 mixed precision, thirty-second clips.

tidemark run --gpu t4 -- python examples/whisper.py --batch 8
"""

import argparse
import tempfile

import torch
from transformers import Seq2SeqTrainer, Seq2SeqTrainingArguments, WhisperConfig, WhisperForConditionalGeneration


class RandomClips(torch.utils.data.Dataset):
    def __init__(self, samples, tokens):
        self.samples, self.tokens = samples, tokens

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        return {"input_features": torch.zeros(80, 3000), "labels": torch.randint(0, 50000, (self.tokens,))}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=128, help="length of a transcript")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()

    model = WhisperForConditionalGeneration(
        WhisperConfig(
            vocab_size=51865,
            d_model=768,
            encoder_layers=arguments.layers,
            decoder_layers=arguments.layers,
            encoder_attention_heads=12,
            decoder_attention_heads=12,
            encoder_ffn_dim=3072,
            decoder_ffn_dim=3072,
            num_mel_bins=80,
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        settings = Seq2SeqTrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=arguments.batch,
            max_steps=arguments.steps,
            fp16=True,
            learning_rate=1e-5,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
        )
        Seq2SeqTrainer(model=model, args=settings, train_dataset=RandomClips(arguments.steps * arguments.batch, arguments.tokens)).train()


if __name__ == "__main__":
    main()
