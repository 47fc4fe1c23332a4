"""The program in a process of its own: for real drives, and wherever progress is shown."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence

from .errors import RefusedError, UnfinishedError, UsageError
from .progress import Progress


def run_program(words: Sequence[str], progress: Progress) -> str | None:
    """Runs the program with this command line, and returns the folder of the run that it kept.

    Raises what the program's exit code says, and `KeyboardInterrupt` on Ctrl-C, upon which it keeps what it measured.
    """
    command = [sys.executable, "-m", "likenew.child", str(os.getpid()), *words]
    # In a group of its own, Ctrl-C in a terminal does not reach it, so that it gets one signal, from here.
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    ) as child:
        kept, message = _follow(child, progress)
    match child.returncode:
        case 0 | 10:
            return kept
        case 2:
            raise UsageError(message)
        case 3:
            raise RefusedError(message)
        case 130:
            raise KeyboardInterrupt
        case _:
            raise UnfinishedError(message)


def _follow(child: subprocess.Popen[str], progress: Progress) -> tuple[str | None, str]:
    """Reads progress until the program ends: the folder of the run, and what it said last."""
    assert child.stderr is not None
    kept, said = None, ""
    try:
        for line in child.stderr:
            if line.startswith("{"):
                event = json.loads(line)
            else:
                said = line if line.startswith(OWN) else said + line
                event = {"message": {"text": line.strip()}}
            kept = event.get("run", {}).get("folder", kept)
            progress(event)
    except BaseException:
        # The program keeps what it measured and removes its files.
        child.send_signal(signal.SIGINT)
        child.communicate()
        raise
    return kept, said.strip().removeprefix(OWN).removeprefix("refused for safety: ")


OWN = "likenew: "
"""Begins a message, which may have more lines."""
