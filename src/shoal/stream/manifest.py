"""What is told of a stream that ended: a manifest beside the data, and a report for its owner."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal._version import __version__
from shoal.manifest import checksum
from shoal.policy_file import policy_toml
from shoal.stream.pump import Delay
from shoal.stream.windows import StreamWindows
from shoal.told_counts import public_counts, write_count

if TYPE_CHECKING:
    from shoal.stream.stream import Streamed


REPORT = "stream.json"


def stream_manifest(made: Streamed, windows: StreamWindows, kind: str, delay: Delay, publish: Path) -> dict[str, Any]:
    """What `publish/manifest.json` says of a stream; numbers of few are told as ranges."""
    name = windows.file_name
    told = public_counts(made.records, windows.k)
    return {
        "shoal": __version__,
        "kind": kind,
        "stream": {
            "delay": {"records": delay.records, "seconds": delay.seconds},
            "windows": made.windows,
            "attacker": list(windows.attacker),
        },
        "data": name,
        "records": {n: write_count(count) for n, count in told.items()},
        **{n: value for n, value in windows.told().items() if value is not None},
        "checksums": {name: checksum(publish / name)},
    }


def stream_report(result: Streamed, policy: Any, checksums: Mapping[str, str]) -> str:
    """What `private/stream.json` says: exact numbers, the loss, what was asked, and which bytes were published."""
    told = {**result.to_dict(), "policy": policy_toml(policy, {}, ()), "checksums": dict(checksums)}
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"
