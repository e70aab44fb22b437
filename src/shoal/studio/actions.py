"""What forms ask for, screen by screen: a change of the policy, or a piece of work. Nothing here decides by itself."""

from __future__ import annotations

import io
import math
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from shoal.errors import DataError, PolicyError, ShoalError
from shoal.kind import ColumnPlace, kind_named, kind_of_policy
from shoal.kinds import HOMES
from shoal.policy_file import policy_toml
from shoal.studio.edit import (
    all_fields,
    as_content,
    changed,
    changes,
    put_said,
    said_in_words,
    said_of,
    with_requirement,
    without_requirement,
)
from shoal.studio.jobs import Starter, begin, last_job
from shoal.studio.screens import hierarchy_text, names_key, names_of
from shoal.studio.session import HEAD, LOOKED, POLICY, SOURCE, Session
from shoal.studio.words import whole_number
from shoal.studio.work import SWEPT, made_folder
from shoal.studio.workspace import Workspace

MOST_HIERARCHY = 2_000_000
"""Bytes of a hierarchy that is sent to the studio."""


def act(
    session: Session, screen: str, fields: Mapping[str, str], file: bytes, workspace: Workspace, start: Starter
) -> str:
    """Do what a form of a screen asks for; the screen to show then.

    Raises
    ------
    ShoalError
        With the sentence that the command line would print; then nothing was changed.
    """
    what = fields.get("do", "save")
    if what not in ACTIONS:
        raise ShoalError("the form asks for something that is not known here; load the page again")
    how = (session, screen, fields, file, workspace, start)
    if what in WORK:
        return ACTIONS[what](*how) or screen
    with session.alone():  # what is changed is what was read, whatever other tabs ask for
        return ACTIONS[what](*how) or screen


def typed_otherwise(session: Session, fields: Mapping[str, str]) -> dict[str, str]:
    """What was typed into a form, without what merely stood there: another tab may have changed that since."""
    try:
        names, base = names_of(session), _base(session, fields)
    except PolicyError:
        return dict(fields)
    shown = {field.name for field in all_fields(base, names)}
    return {name: text for name, text in fields.items() if name not in shown} | changes(base, names, fields)


def confined(policy: Any, session: Session, workspace: Workspace) -> Any:
    """A policy, unless it names a file outside of the folder that the studio was started with."""
    for given in _hierarchy_files(policy):
        path = (session.folder / given).resolve()
        if not path.is_relative_to(session.folder.resolve()):
            workspace.inside(str(path))
    return policy


def _hierarchy_files(part: Any) -> Iterator[str]:
    """The files that a policy names, however deep in it."""
    if isinstance(part, Mapping):
        for one in part.values():
            yield from _hierarchy_files(one)
    if isinstance(part, BaseModel):
        for name in type(part).model_fields:
            given = getattr(part, name)
            if name.endswith("hierarchy") and isinstance(given, str) and given != "auto":
                yield given
            yield from _hierarchy_files(given)


def _save(
    session: Session, screen: str, fields: Mapping[str, str], file: bytes, workspace: Workspace, start: Starter
) -> None:
    """Change what the form says otherwise than the page that it stood on."""
    names, base, policy = names_of(session), _base(session, fields), session.policy
    said = changes(base, names, fields)
    if fields.get("names", key := names_key(session)) != key:
        raise PolicyError("the file was read again meanwhile, with other columns; look at them, and change them then")
    if said and type(base) is not type(policy):
        raise PolicyError("the file is read as something else meanwhile; look at it again, and change it then")
    if said:
        policy = confined(changed(policy, names, said), session, workspace)
        session.change(session.written(policy), said_in_words(said, names))


def _base(session: Session, fields: Mapping[str, str]) -> Any:
    """The policy that a form was drawn from."""
    number = whole_number(fields.get("step", ""))
    try:
        return session.policy_of(session.step(number).text) if number > 0 else session.policy
    except PolicyError:
        return session.policy


def _add(session: Session, screen: str, fields: Mapping[str, str], *_: Any) -> None:
    model = fields.get("model", "")
    policy = with_requirement(session.policy, model)
    session.change(session.written(policy), f"{model} required")


def _remove(session: Session, screen: str, fields: Mapping[str, str], *_: Any) -> None:
    index, _colon, model = fields.get("which", "").partition(":")
    policy = without_requirement(session.policy, whole_number(index), model)
    session.change(session.written(policy), f"{model} not required any more")


def _guesses(session: Session, screen: str, fields: Mapping[str, str], *_: Any) -> None:
    """Take what the data was guessed to be, in place of what was said of it."""
    found = session.kept(LOOKED)
    if found is None:
        raise PolicyError("the data was not read yet; read it first")
    content = as_content(session.policy_of(found["proposal"])) | {"context": session.policy.context}
    session.change(session.written(type(session.policy_of(found["proposal"]))(**content)), "guesses taken")


def _read(
    session: Session, screen: str, fields: Mapping[str, str], file: bytes, workspace: Workspace, start: Starter
) -> None:
    """Read the source again, perhaps as something else."""
    with session.alone():
        _save(session, screen, fields, file, workspace, start)
        name, policy = fields.get("kind", ""), session.policy
        if name in HOMES and (meant := kind_named(name)) is not kind_of_policy(policy):
            session.keep(SOURCE, {**session.kept(SOURCE), "kind": name})
            (session.folder / LOOKED).unlink(missing_ok=True)
            fitting = meant.policy(context=policy.context)  # no other key fits
            session.change(policy_toml(fitting, {}, HEAD), f"read as {meant.policy.noun}")
        _put_first(session, fields.get("main", ""))
    begin(session, "look", {}, start)


def _put_first(session: Session, name: str) -> None:
    """Make one of several files the main one, which is the first."""
    paths = session.paths
    chosen = [path for path in paths if path.name == name]
    if chosen and chosen[0] != paths[0]:
        ordered = chosen + [path for path in paths if path != chosen[0]]
        session.keep(SOURCE, {**session.kept(SOURCE), "paths": [str(path) for path in ordered]})


def _make(
    session: Session, screen: str, fields: Mapping[str, str], file: bytes, workspace: Workspace, start: Starter
) -> str:
    _ = session.policy  # which says what is wrong with it
    how: dict[str, Any] = {}
    if seed := fields.get("seed", "").strip():
        if not seed.isascii() or not seed.isdigit() or len(seed) > 60:
            raise PolicyError("the seed is not a whole number from 0 on; give one, or none")
        how["seed"] = int(seed)
    if share := fields.get("hold_out", "").strip():
        try:
            how["hold_out"] = float(share)
        except ValueError:
            how["hold_out"] = math.nan
        if not math.isfinite(how["hold_out"]):
            raise PolicyError("the share to hold out is not a number; give one between 0 and 1, or none")
    begin(session, "make", how, start)
    return "result"


def _sweep(
    session: Session, screen: str, fields: Mapping[str, str], file: bytes, workspace: Workspace, start: Starter
) -> None:
    policy = session.policy
    trials = kind_of_policy(policy).trials(policy)
    method = next(iter(trials.cell.settings))
    how: dict[str, Any] = {}
    if text := fields.get("sweep/k", "").strip():
        how["k"] = _numbers("k", text, int)
    for name in trials.cell.settings:
        if text := fields.get(f"sweep/{name}", "").strip():
            words = [word.strip() for word in text.split(",") if word.strip()]
            is_word = name == method or name in ("publish", "effort", "generator")
            how["methods" if name == method else name] = words if is_word else _numbers(name, text, float)
            if name in ("order", "support"):
                how[name] = _numbers(name, text, int)
    trials.grid(how.get("k"), {(method if n == "methods" else n): v for n, v in how.items() if n != "k"})
    begin(session, "sweep", how, start)


def _numbers(name: str, text: str, kind: Callable[[str], Any]) -> list[Any]:
    try:
        return [kind(word) for word in text.split(",") if word.strip()]
    except ValueError:
        raise PolicyError(f"{name} takes numbers with commas between, such as 2,5,10") from None


def _take(session: Session, screen: str, fields: Mapping[str, str], *_: Any) -> str:
    """Make what was tried the policy."""
    found, cell = session.kept(SWEPT), whole_number(fields.get("cell", ""))
    if found is None or not 0 <= cell < len(found["cells"]):
        raise PolicyError("that was not tried; choose a line of the table")
    tried = found["cells"][cell]
    if fields.get("told", tried["told"]) != tried["told"]:
        raise PolicyError("others were tried meanwhile; look at the table again, and choose then")
    policy = session.policy
    settings = {name: value for name, value in tried["settings"].items() if value is not None}
    asked = kind_of_policy(policy).trials(policy).grid([tried["k"]] if tried["k"] else None, settings)
    session.change(session.written(asked[0].policy), f"taken from the sweep: {tried['told']}")
    return "sweep"


def _attack(
    session: Session, screen: str, fields: Mapping[str, str], file: bytes, workspace: Workspace, start: Starter
) -> None:
    made_folder(session)
    how: dict[str, Any] = {}
    given = [fields.get(f"control/{i}", "") for i in range(len(session.paths))]
    if any(given):
        if not all(given):
            raise ShoalError("a file to compare with is chosen for some tables; choose one for each, or for none")
        how["control"] = [str(workspace.inside(place)) for place in given]
    begin(session, "attack", how, start)


def _publish(
    session: Session, screen: str, fields: Mapping[str, str], file: bytes, workspace: Workspace, start: Starter
) -> None:
    from shoal.stage import refuse_occupied

    made = made_folder(session)[1]
    if fields.get("made", str(made["number"])) != str(made["number"]):
        raise ShoalError("the release was made again meanwhile; look at it first, and write it then")
    name = fields.get("out", "").strip()
    if not name:
        raise ShoalError("the folder has no name; give it one")
    out = workspace.inside(name)
    if out == workspace.top:
        raise ShoalError("the release cannot take the place of the whole folder; give it a folder of its own")
    refuse_occupied(out)
    begin(session, "publish", {"out": str(out), "number": made["number"]}, start)


def _stop(session: Session, screen: str, *_: Any) -> None:
    job = last_job(session)
    if job is not None:
        job.stop()


def _undo(session: Session, screen: str, fields: Mapping[str, str], *_: Any) -> None:
    if fields.get("step", str(session.last)) != str(session.last):
        raise PolicyError("the policy was changed in another tab meanwhile; look at it again, and undo that then")
    session.undo()


def _back(session: Session, screen: str, fields: Mapping[str, str], *_: Any) -> None:
    session.go_back(whole_number(fields.get("number", "")))


def _edit(
    session: Session, screen: str, fields: Mapping[str, str], file: bytes, workspace: Workspace, start: Starter
) -> None:
    """Take a policy file as it was typed."""
    text = fields.get("text", "").replace("\r\n", "\n")
    if fields.get("step", str(session.last)) != str(session.last):
        raise PolicyError("the policy was changed in another tab meanwhile; look at it again, and save this then")
    confined(session.policy_of(text), session, workspace)
    session.change(text, "edited as a file")


def _column(session: Session, fields: Mapping[str, str]) -> tuple[int, ColumnPlace]:
    names, index = names_of(session), whole_number(fields.get("column", ""))
    if not 0 <= index < len(names):
        raise PolicyError("there is no such column; choose one of those that are listed")
    return index, names[index]


def _put_hierarchy(session: Session, place: ColumnPlace, given: str | None, what: str) -> None:
    policy = session.policy
    content = as_content(policy)
    put_said(content, place, {"hierarchy": given})
    session.change(session.written(type(policy)(**content)), what)


def _bands(session: Session, screen: str, fields: Mapping[str, str], *_: Any) -> None:
    place = _column(session, fields)[1]
    _put_hierarchy(session, place, "auto", f"automatic bands for {place.told}")


def _no_hierarchy(session: Session, screen: str, fields: Mapping[str, str], *_: Any) -> None:
    place = _column(session, fields)[1]
    _put_hierarchy(session, place, None, f"no hierarchy for {place.told}")


def _hierarchy(session: Session, screen: str, fields: Mapping[str, str], file: bytes, *others: Any) -> None:
    """Keep a hierarchy that was typed or sent, as a new file: earlier steps go on to name theirs."""
    from shoal.data.tables.hierarchy import Hierarchy

    index, place = _column(session, fields)
    content = file or fields.get("text", "").replace("\r\n", "\n").encode()
    if len(content) > MOST_HIERARCHY:
        raise ShoalError(f"the hierarchy has more than the {MOST_HIERARCHY:,} bytes that are taken")
    folder = session.folder / "hierarchies"
    number = 1 + sum(1 for _ in folder.glob(f"column-{index}-*.csv"))
    path = folder / f"column-{index}-{number}.csv"
    partial = folder / f".column-{index}-{number}.csv"
    partial.write_bytes(content)
    try:
        tree = Hierarchy.read(partial)
    except ShoalError as error:
        partial.unlink()
        raise type(error)(str(error).replace(str(partial), "the hierarchy")) from None
    partial.write_text(hierarchy_text(list(tree.rows)), encoding="utf-8")
    partial.rename(path)
    _put_hierarchy(session, place, str(path), f"hierarchy of {place.told} edited")


ACTIONS: Mapping[str, Callable[..., str | None]] = {
    "save": _save,
    "add": _add,
    "remove": _remove,
    "guesses": _guesses,
    "read": _read,
    "make": _make,
    "sweep": _sweep,
    "take": _take,
    "attack": _attack,
    "publish": _publish,
    "stop": _stop,
    "undo": _undo,
    "back": _back,
    "edit": _edit,
    "bands": _bands,
    "no_hierarchy": _no_hierarchy,
    "hierarchy": _hierarchy,
}

WORK = ("read", "make", "sweep", "attack", "publish", "stop")
"""What sets work going or ends it, for which no tab has to wait."""

PAGES = {"report": ("private", "report.html"), "datasheet": ("publish", "datasheet.html")}


def file_of(
    session: Session, what: str, query: Mapping[str, str], workspace: Workspace
) -> tuple[bytes, str, str] | None:
    """Something to look at or to keep: its bytes, its type, and the name to keep it by ("" to look at)."""
    if what == "policy.toml":
        return (session.folder / POLICY).read_bytes(), "application/toml", "policy.toml"
    if what == "hierarchy":
        confined(session.policy, session, workspace)
        return _hierarchy_file(session, query)
    try:
        folder, _ = made_folder(session)
    except ShoalError:
        return None
    if what in PAGES:
        path = folder.joinpath(*PAGES[what])
        return (path.read_bytes(), "text/html; charset=utf-8", "") if path.is_file() else None
    return (_zipped(folder / "publish"), "application/zip", f"{session.name}.zip") if what == "zip" else None


def _hierarchy_file(session: Session, query: Mapping[str, str]) -> tuple[bytes, str, str]:
    index, place = _column(session, query)
    given = getattr(said_of(session.policy, place), "hierarchy", None)
    if isinstance(given, str) and given != "auto":
        try:
            content = Path(given).read_bytes()
        except OSError as error:
            raise DataError(f"the hierarchy of {place.told} cannot be read: {error.strerror or error}") from None
    else:
        found = session.kept(f"hierarchies/values-{index}.json") or {"bands": []}
        content = hierarchy_text(found["bands"]).encode()
    return content, "text/csv", f"hierarchy-{index}.csv"


def _zipped(folder: Path) -> bytes:
    """The published files in one, with no time or owner in it: the same files give the same bytes."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            with path.open("rb") as source, archive.open(_entry(path), "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target, 1 << 20)
    return whole.getvalue()


def _entry(path: Path) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(path.name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry
