"""Training runs that record_allocator.py records whole: a few steps, small models."""


def _train(log, model, batch, optimizer, steps, autocast=False):
    import torch

    scaler = torch.amp.GradScaler("cuda", enabled=autocast)
    for step in range(steps):
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16, enabled=autocast):
            loss = model(batch)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        if step == 0:
            log.mark("e")
            torch.cuda.empty_cache()


def mlp(log):
    """Five linear layers, Adam, two batch sizes in turn."""
    import torch

    model = torch.nn.Sequential(*[layer for _ in range(5) for layer in (torch.nn.Linear(1024, 1024), torch.nn.GELU())]).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for rows in (4000, 1500, 4000, 2500):
        batch = torch.randn(rows, 1024, device="cuda")
        _train(log, lambda x: model(x).square().mean(), batch, optimizer, 1)


def llama(log):
    """Four layers, AdamW (foreach), five steps over batches of different lengths."""
    import torch
    import transformers

    config = transformers.LlamaConfig(hidden_size=512, intermediate_size=1376, num_hidden_layers=4, num_attention_heads=8, num_key_value_heads=4, vocab_size=8000)
    model = transformers.LlamaForCausalLM(config).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for length in (128, 333, 200):
        batch = torch.ones(2, length, dtype=torch.long, device="cuda")
        try:
            _train(log, lambda ids: model(input_ids=ids, labels=ids).loss, batch, optimizer, 1)
        except torch.OutOfMemoryError as error:
            log.message(str(error).split("\n")[0])


def gpt2_amp(log):
    """Three layers under float16 autocast with a gradient scaler, SGD with momentum."""
    import torch
    import transformers

    config = transformers.GPT2Config(n_embd=384, n_layer=3, n_head=6, vocab_size=5000)
    model = transformers.GPT2LMHeadModel(config).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    batch = torch.ones(4, 256, dtype=torch.long, device="cuda")
    _train(log, lambda ids: model(input_ids=ids, labels=ids).loss, batch, optimizer, 3, autocast=True)
