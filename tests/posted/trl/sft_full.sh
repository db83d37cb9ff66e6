accelerate launch --config_file zero3.yaml trl/scripts/sft.py \
    --model_name_or_path Qwen/Qwen2-0.5B --dataset_name trl-lib/Capybara \
    --learning_rate 2.0e-5 --num_train_epochs 1 --packing --attn_implementation flash_attention_2 \
    --per_device_train_batch_size 2 --gradient_accumulation_steps 8 \
    --eos_token '<|im_end|>' --eval_strategy steps --eval_steps 100 --output_dir Qwen2-0.5B-SFT --push_to_hub
