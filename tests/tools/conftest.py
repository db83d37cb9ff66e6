import pathlib
import sys

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
sys.path[:0] = [str(folder) for folder in (TOOLS, TOOLS / "trace", TOOLS / "capture", TOOLS / "testing")]
