torchrun --nproc_per_node 4 examples/pytorch/language-modeling/run_clm.py \
    --model_name_or_path openai-community/gpt2 --dataset_name wikitext --dataset_config_name wikitext-2-raw-v1 \
    --per_device_train_batch_size 8 --per_device_eval_batch_size 8 --block_size 1024 --bf16 \
    --do_train --do_eval --output_dir /tmp/test-clm
