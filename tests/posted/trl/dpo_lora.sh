python trl/scripts/dpo.py \
    --dataset_name trl-lib/ultrafeedback_binarized --model_name_or_path Qwen/Qwen2-0.5B-Instruct \
    --learning_rate 5.0e-6 --num_train_epochs 1 --per_device_train_batch_size 2 --max_steps 1000 \
    --gradient_accumulation_steps 8 --eval_strategy steps --eval_steps 50 \
    --output_dir Qwen2-0.5B-DPO --no_remove_unused_columns --use_peft --lora_r 32 --lora_alpha 16
