"""A session: one source, one policy file, and every policy that there was; all of it files, so nothing can be lost.

::

    session/
      source.json      which files, and what they are to be read as, if that was said
      policy.toml      the state: what is asked for now; it may be edited by hand
      steps/           every policy that there was, numbered, each with a word on how it came about
      looked.json      what the first reading found: the profile, some rows, hierarchies
      jobs/  made/  sweep/

A change writes `policy.toml` first, whole or not at all, and then its copy among the steps. Whoever finds a policy
that is not the last step, because a process died between both or somebody edited the file, makes it a step.
"""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import PolicyError
from shoal.kind import default_kind, kind_named, kind_of, kind_of_content, read_policy
from shoal.policy_file import policy_toml
from shoal.scratch import clear_abandoned, locked, write_owned

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

POLICY, SOURCE, LOOKED, STEPS = "policy.toml", "source.json", "looked.json", "steps"
FOUND = "found in policy.toml"
HEAD = ("Kept by `shoal studio`, which shows what stands here; it may be edited by hand too.",)


@dataclass(frozen=True)
class PolicyStep:
    """One policy that there was.

    Attributes
    ----------
    number : int
        From 1 on.
    what : str
        How it came about.
    before : int
        The step that undoing leads back to; 0 where there is none.
    text : str
        The policy file.
    """

    number: int
    what: str
    before: int
    text: str


def source_of(paths: list[Path]) -> Any:
    """What the verbs take: a path, or several by the names of their tables."""
    from shoal.data.linked.linked import name_files

    return paths[0] if len(paths) == 1 else name_files(paths)


class Session:
    """The files of a session."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def begin(cls, folder: Path, paths: list[Path], kind: str | None = None, inputs: Path | None = None) -> Session:
        """Make a session of some files, in a folder of the owner's alone that does not exist yet.

        `inputs` is a folder that holds the files and becomes the session's own.
        """
        meant = kind_named(kind) if kind else kind_of(source_of(paths))
        folder.mkdir(mode=0o700)
        for inner in (STEPS, "jobs", "made", "hierarchies"):
            (folder / inner).mkdir(mode=0o700)
        session = cls(folder)
        if inputs is not None:
            inputs.rename(folder / "input")
            paths = [folder / "input" / path.relative_to(inputs) for path in paths]
        session.keep(SOURCE, {"paths": [str(path) for path in paths], "kind": kind})
        session.change(policy_toml(meant.policy(), {}, HEAD), "opened")
        return session

    @property
    def name(self) -> str:
        """What the session is called in addresses."""
        return self.folder.name

    @property
    def is_whole(self) -> bool:
        """Whether there is a source and a policy; a session that was killed while it was made has not both."""
        return (self.folder / SOURCE).is_file() and (self.folder / POLICY).is_file()

    @property
    def paths(self) -> list[Path]:
        """The files of the source."""
        return [Path(path) for path in (self.kept(SOURCE) or {"paths": []})["paths"]]

    @property
    def source(self) -> Any:
        """What the verbs take: a path, or several by the names of their tables."""
        return source_of(self.paths)

    @property
    def stamp(self) -> list[list[int]]:
        """What tells that a file of the source was changed: its bytes, and when it was written."""
        found = [path.stat() for path in self.paths if path.exists()]
        return [[one.st_size, one.st_mtime_ns] for one in found]

    def keep(self, name: str, content: Any, *, is_durable: bool = True) -> None:
        """Keep something as JSON, whole or not at all; what can be found again need not wait for the disk."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False)
        if is_durable:
            write_owned(self.folder / name, text, overwrite=True)
        else:
            (self.folder / name).touch(mode=0o600)
            (self.folder / name).write_text(text, encoding="utf-8")

    def kept(self, name: str) -> Any:
        """What was kept under a name; None where nothing was, or what is there is spoiled."""
        try:
            return json.loads((self.folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    @property
    def text(self) -> str:
        """The policy file as it is."""
        try:
            return (self.folder / POLICY).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise PolicyError(f"the policy file cannot be read as UTF-8 text ({type(error).__name__})") from None

    @property
    def policy(self) -> Any:
        """What is asked for now."""
        return read_policy(self.folder / POLICY)

    def policy_of(self, text: str) -> Any:
        """What a policy file of this session asks for; hierarchies are looked for beside it."""
        path = self.folder / POLICY
        try:
            content = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise PolicyError(f"{path.name} is not valid TOML: {error}") from None
        kind = kind_of_content(content) or default_kind()
        return kind.policy.from_content(content, text, path)

    def written(self, policy: Any) -> str:
        """The policy file of a policy, with what the first reading found about columns beside them."""
        looked = self.kept(LOOKED) or {}
        is_said = getattr(policy, "columns", None) or getattr(policy, "tables", None)
        return policy_toml(policy, looked.get("reasons", {}) if is_said else {}, HEAD, self.folder)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Be the only one who changes the policy, from reading what it is to writing what it becomes."""
        with locked(self.folder / STEPS):
            yield

    def change(self, text: str, what: str, *, back_to: int | None = None) -> int:
        """Make a text the policy, and a step of the history; the number of the last step, a new one if it differs.

        `back_to` is the step that this is a copy of, for undoing.
        """
        with locked(self.folder):
            clear_abandoned(self.folder)
            last = self._caught_up()
            if last is not None and last.text == text:
                return last.number
            before = last.number if last is not None else 0
            if back_to is not None:
                before = self.step(back_to).before
            write_owned(self.folder / POLICY, text, overwrite=True)
            return self._append(text, what, before).number

    def undo(self) -> int:
        """Go back to the policy before the last change, as a step of its own."""
        with locked(self.folder):
            last = self._caught_up()
        if last is None or not last.before:
            raise PolicyError("there is no step before this one to go back to")
        return self.go_back(last.before)

    def go_back(self, number: int) -> int:
        """Make the policy of an earlier step the policy, as a step of its own."""
        return self.change(self.step(number).text, f"back to step {number}", back_to=number)

    def steps(self) -> list[PolicyStep]:
        """Every policy that there was, the first one first."""
        with locked(self.folder):
            self._caught_up()
        return [self.step(number) for number in self._numbers()]

    @property
    def last(self) -> int:
        """The number of the last step."""
        if self._is_caught_up():
            return max(self._numbers(), default=0)
        with locked(self.folder):
            step = self._caught_up()
        return 0 if step is None else step.number

    def step(self, number: int) -> PolicyStep:
        """One policy that there was."""
        place = self.folder / STEPS / f"{number:06d}.toml"
        try:
            text = place.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise PolicyError(f"there is no step {number}; the history shows those that there are") from None
        told = self.kept(f"{STEPS}/{number:06d}.json") or {}
        return PolicyStep(number, str(told.get("what", FOUND)), int(told.get("before", number - 1)), text)

    def difference(self, number: int) -> list[tuple[str, str]]:
        """The lines in which a step differs from the one before it, each with "+", "-" or " " ahead of it."""
        text = self.step(number).text
        other = self.step(number - 1).text if number > 1 else ""
        lines = difflib.unified_diff(other.splitlines(), text.splitlines(), lineterm="", n=1)
        return [(line[:1], line[1:]) for line in lines if not line.startswith(("---", "+++"))]

    def _numbers(self) -> list[int]:
        names = (path.stem for path in (self.folder / STEPS).glob("*.toml"))
        return sorted(int(name) for name in names if name.isdigit())

    def _is_caught_up(self) -> bool:
        numbers = self._numbers()
        try:
            return bool(numbers) and self.step(numbers[-1]).text == self.text
        except PolicyError:
            return True

    def _caught_up(self) -> PolicyStep | None:
        """The last step, after what stands in the policy file was made one."""
        numbers = self._numbers()
        last = self.step(numbers[-1]) if numbers else None
        if not (self.folder / POLICY).exists():
            return last
        try:
            text = self.text
        except PolicyError:  # which every page then says
            return last
        if last is not None and last.text == text:
            return last
        return self._append(text, FOUND, last.number if last is not None else 0)

    def _append(self, text: str, what: str, before: int) -> PolicyStep:
        number = max(self._numbers(), default=0) + 1
        self.keep(f"{STEPS}/{number:06d}.json", {"what": what, "before": before})
        write_owned(self.folder / STEPS / f"{number:06d}.toml", text, overwrite=True)
        return PolicyStep(number, what, before, text)
