export CUDA_VISIBLE_DEVICES=0,1
FORCE_TORCHRUN=1 NNODES=1 llamafactory-cli train \
    --stage sft --do_train true --model_name_or_path Qwen/Qwen2.5-7B-Instruct \
    --finetuning_type lora --lora_rank 16 --lora_target all --template qwen \
    --dataset alpaca_zh_demo --cutoff_len 2048 --flash_attn fa2 \
    --per_device_train_batch_size 1 --gradient_accumulation_steps 8 \
    --learning_rate 1e-4 --num_train_epochs 3 --bf16 true \
    --deepspeed examples/deepspeed/ds_z3_offload_config.json --output_dir saves/out
