"""Peak memory and CPU of the process that asks. It imports nothing of ours: peers' runners use it too."""

from __future__ import annotations

import os
import resource
import sys
from contextlib import suppress
from threading import Event, Thread
from time import process_time


def peak_mb() -> float:
    """Largest resident memory so far, in MB.

    `getrusage` of a process that was started by a large one may report the size of that one, as Linux carries
    the mark over `exec`; the kernel's own mark of the address space does not.
    """
    try:
        with open("/proc/self/status") as lines:
            for line in lines:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) / 1024
    except OSError:
        pass
    unit = 1024**2 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def tree() -> list[int]:
    """This process and all that it started, where the system tells (Linux); else this one."""
    try:
        parents = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                with suppress(OSError), open(f"/proc/{entry}/stat") as file:
                    parents[int(entry)] = int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return [os.getpid()]
    found = [os.getpid()]
    for process in found:  # grows while it is walked through
        found += [child for child, parent in parents.items() if parent == process]
    return found


def tree_cpu_seconds() -> float:
    """Processor time of this process, of those that it started and that live, and of those that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    total, tick = process_time() + ended.ru_utime + ended.ru_stime, os.sysconf("SC_CLK_TCK")
    for process in tree()[1:]:
        with suppress(OSError), open(f"/proc/{process}/stat") as file:
            total += sum(map(int, file.read().rpartition(")")[2].split()[11:13])) / tick
    return total


class TreePeak:
    """The largest memory of a process and of all that it started together, looked at twenty times a second.

    The peak of a process that starts none is the kernel's own mark.
    """

    def __init__(self) -> None:
        self.mb = 0.0
        self._ended = Event()
        self._looking = Thread(target=self._look, daemon=True)

    def __enter__(self) -> TreePeak:
        self._looking.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._looking.join()
        self.mb = max(self.mb, peak_mb())

    def _look(self) -> None:
        page = os.sysconf("SC_PAGE_SIZE") / 1024**2
        while not self._ended.wait(0.05):
            total = 0.0
            for process in tree():
                with suppress(OSError), open(f"/proc/{process}/statm") as file:
                    total += int(file.read().split()[1]) * page
            self.mb = max(self.mb, total)
