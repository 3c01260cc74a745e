"""Let pytest find the example plugin, which is tested where it lies and not installed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "example-plugin"))
