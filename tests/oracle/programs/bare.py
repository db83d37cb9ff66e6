"""Runs another program without the part of Tidemark that works inside PyTorch: bare.py program.py arguments …"""

import os
import sys

del os.environ["TIDEMARK_RUN_DIR"]
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
