"""Peak memory of the process that asks. It imports nothing of ours: peers' runners use it too."""

from __future__ import annotations

import resource
import sys


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
