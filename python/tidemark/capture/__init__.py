"""Programs of models, captured from the models themselves (docs/reference/programs.md).

    python -m tidemark.capture config.json --batch 2 --seq 64 -o llama.txt

What runs in the process that has torch is `inside`; this package imports nothing but the standard library until then.
"""
