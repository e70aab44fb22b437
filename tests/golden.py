"""Same bytes from two checkouts: `python -m tests.golden OTHER`, where OTHER is another working tree of this repository.

For changes that must not change a release, such as moves of modules. Sixteen seeded releases of data that the package
makes are written by both trees, each in processes of its own, and compared by the hash of every published file and by
what `check` and `attack` say of them as JSON. Nothing is stored, so nothing depends on the machine or on versions.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
TABLE = (
    "--quasi",
    "age,sex,zip",
    "--identifying",
    "patient_id,name",
    "--sensitive",
    "diagnosis",
    "--others",
    "identifying",
    "-k",
    "5",
)
RELEASES: dict[str, tuple[str, ...]] = {
    "mondrian": ("clinic.csv", *TABLE),
    "mondrian, l": ("clinic.csv", *TABLE, "-l", "2"),
    "mondrian, t": ("clinic.csv", *TABLE, "-t", "0.4"),
    "k-member": ("clinic.csv", *TABLE, "--method", "k-member"),
    "nearest": ("clinic.csv", *TABLE, "--method", "nearest-neighbours"),
    "local recoding": ("clinic.csv", *TABLE, "--method", "local-recoding"),
    "full-domain": ("clinic.csv", *TABLE, "--method", "full-domain", "--suppression", "0.05"),
    "datafly": ("clinic.csv", *TABLE, "--method", "datafly", "--suppression", "0.05"),
    "mdav": ("clinic.csv", *TABLE, "--method", "mdav"),
    "v-mdav": ("clinic.csv", *TABLE, "--method", "v-mdav"),
    "condense": ("clinic.csv", *TABLE, "--publish", "condense"),
    "bucketize": ("clinic.csv", *TABLE, "-l", "2", "--publish", "bucketize"),
    "slice": ("clinic.csv", *TABLE, "-l", "2", "--publish", "slice"),
    "screen": ("clinic.csv", *TABLE, "-l", "2", "--publish", "screen"),
    "strings": ("proteins.fasta", "-k", "10"),
    "sketches": ("baskets.dat", "--kind", "sparse", "--publish", "sketch", "-k", "5"),
}


def shoal(tree: Path, folder: Path, *arguments: str) -> str:
    """What a command of a tree prints."""
    main = "import sys; from importlib import import_module as load\n" + (
        "try: main = load('shoal.cli.app').main\nexcept ImportError: main = load('shoal.cli').main\nmain()"
    )
    done = subprocess.run(
        [sys.executable, "-c", main, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
    )
    if done.returncode not in (0, 5):
        raise SystemExit(f"{tree}: shoal {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def facts(tree: Path, inputs: Path, name: str) -> dict[str, str]:
    """Hashes of what a tree publishes, and what it says of it."""
    source, *options = RELEASES[name]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        shoal(tree, folder, "anonymize", str(inputs / source), *options, "--seed", "7", "-o", "out")
        made = {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted((folder / "out" / "publish").iterdir())
        }
        made["check"] = shoal(tree, folder, "check", "out", "--original", str(inputs / source), "--json")
        attacked = json.loads(shoal(tree, folder, "attack", "out", "--original", str(inputs / source), "--json"))
        for attack in attacked["attacks"]:
            attack.pop("seconds", None)
        return {**made, "attack": json.dumps(attacked)}


def main() -> None:
    """Compare, and say what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("names", nargs="*", help="only these releases")
    asked = parser.parse_args()
    n_different = 0
    with tempfile.TemporaryDirectory() as scratch:
        shoal(HERE, Path(scratch), "demo", "-o", "demo")
        inputs = Path(scratch) / "inputs"
        inputs.mkdir()
        for path in Path(scratch).glob("demo/**/input/*"):
            path.rename(inputs / path.name)
        for name in asked.names or RELEASES:
            ours, theirs = (facts(tree, inputs, name) for tree in (HERE, asked.other.resolve()))
            different = [part for part in {**ours, **theirs} if ours.get(part) != theirs.get(part)]
            n_different += bool(different)
            print(f"{name}: {'differs in ' + ', '.join(different) if different else 'the same'}", flush=True)
    raise SystemExit(1 if n_different else 0)


if __name__ == "__main__":
    main()
