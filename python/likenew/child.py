"""The program as `run` starts it: it ends when the process ends that started it, and whose id comes first."""

import ctypes
import os
import signal
import sys

from .__main__ import main

PR_SET_PDEATHSIG = 1
"""Of Linux: which signal a process gets when the thread ends that started it."""

if __name__ == "__main__":
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    has_parent = os.getppid() == int(sys.argv.pop(1))
    sys.exit(main() if has_parent else 128 + signal.SIGTERM)
