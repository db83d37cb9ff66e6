"""Groups of a group: ranks 0 and 2 of the second half of the world, which are ranks 4 and 6, by split_group, which counts within the parent."""

import os

import torch
import torch.distributed as dist

local = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local)
dist.init_process_group("nccl", device_id=torch.device("cuda", local))
half = dist.split_group(None, [[0, 1, 2, 3], [4, 5, 6, 7]])
even = dist.split_group(half, [[0, 2], [1, 3]])
dist.all_reduce(torch.ones(4, device="cuda"), group=even)
alone = dist.new_group([dist.get_rank()])
dist.all_reduce(torch.ones(4, device="cuda"), group=alone)
