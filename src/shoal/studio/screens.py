"""What each screen shows, from the files of a session alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

from shoal.errors import DataError, PolicyError, ShoalError
from shoal.kind import ColumnPlace, kind_of_policy, kinds
from shoal.studio.edit import column_fields, requirement_fields, said_of
from shoal.studio.fields import HIDDEN, FormField, choices_of, fields_of, parts_of
from shoal.studio.pictures import risk_and_loss, without_styles
from shoal.studio.session import LOOKED, Session
from shoal.studio.words import whole_number
from shoal.studio.work import ATTACKED, MADE, OFFERED, PUBLISHED, SWEPT, plain_shown
from shoal.studio.workspace import Workspace

N_LEAVES = 200
"""Values of a hierarchy that are shown as a tree."""
MOST_EDITED = 2_000
"""Values of a hierarchy that can be edited on the page."""
LEGEND = "alone: "
"""What explains a column of a table that the first screen does not show."""
_NO_POLICY = "policy.toml cannot be read, so nothing else can be shown; mend it, or go back to an earlier step"


def looked(session: Session) -> dict[str, Any]:
    """What the first reading found; empty before it."""
    return session.kept(LOOKED) or {}


def names_of(session: Session) -> list[ColumnPlace]:
    """The columns of the data."""
    return [ColumnPlace(*place) for place in looked(session).get("names", [])]


def names_key(session: Session) -> str:
    """What tells whether columns are still those that a form was drawn from, as it names them by their places."""
    return hashlib.sha256(json.dumps(names_of(session)).encode()).hexdigest()[:16]


def is_input(field: FormField, policy: Any) -> bool:
    """Whether a key says how the file is read."""
    info = type(policy).model_fields.get(field.name)
    extra = info.json_schema_extra if info is not None else None
    told: Any = extra.get("option") if isinstance(extra, dict) else None
    return isinstance(told, Mapping) and bool(told.get("is_input"))


def _reading(session: Session, policy: Any) -> list[FormField]:
    """The keys that say how the file is read; where it tells what one can be, that is what is offered."""
    offered = session.kept(OFFERED) or {}
    own = [f for f in fields_of(policy, leave_out=HIDDEN) if is_input(f, policy)]
    first = [_offering(f, offered[f.key]) for f in own if offered.get(f.key)]
    own = [*first, *(f for f in own if not offered.get(f.key))]
    part = parts_of(policy).get("input")
    return [*own, *(fields_of(part, "input/") if part is not None else [])]


def _offering(field: FormField, words: Sequence[str]) -> FormField:
    said = (field.value,) if field.value and field.value not in words else ()
    return replace(field, widget="choice", choices=(*words, *said), instead="choose one")


def _open(session: Session, policy: Any, workspace: Workspace, query: Mapping[str, str]) -> dict[str, Any]:
    found = looked(session)
    sizes = [(path.name, path.stat().st_size if path.is_file() else 0) for path in session.paths if path.exists()]
    return {
        "looked": found,
        "files": sizes,
        "kinds": [(kind.name, kind.policy.noun) for kind in kinds()],
        "kind": policy.kind,
        "reading": _reading(session, policy),
        "lines": [part for part in found.get("shown", []) if isinstance(part, str) and not part.startswith(LEGEND)],
    }


def _columns(session: Session, policy: Any, workspace: Workspace, query: Mapping[str, str]) -> dict[str, Any]:
    found = looked(session)
    names = names_of(session)
    rows = [
        {"index": i, "name": place.name, "table": place.table, "fields": fields, "measured": measured, "adds": adds}
        for i, (place, fields, measured, adds) in enumerate(
            zip(names, column_fields(policy, names), found.get("columns", []), found.get("adds", []), strict=False)
        )
    ]
    person = [f for f in fields_of(policy, leave_out=HIDDEN) if f.key in ("person", "person_knowledge", "keep_person")]
    return {
        "looked": found,
        "tables": [list(own) for _, own in groupby(rows, lambda row: row["table"])],
        "names_key": names_key(session),
        "person": person,
        "reading": _reading(session, policy),
        "shown": found.get("shown", []),
        "is_guessed": found.get("proposal") is not None,
    }


def _context(session: Session, policy: Any, workspace: Workspace, query: Mapping[str, str]) -> dict[str, Any]:
    fields = {field.key: field for field in fields_of(policy.context, "context/")}
    first = ("release_model", "recipients", "purpose", "acceptable_risk")
    return {
        "groups": [
            ("Who gets it, and what for", [fields[name] for name in first]),
            ("The population", [fields[name] for name in ("population", "sampling_fraction", "harms")]),
            (
                "What stands beside the data",
                [fields[n] for n in ("title", "source", "contact", "licence", "date", "review")],
            ),
        ]
    }


def _hierarchies(session: Session, policy: Any, workspace: Workspace, query: Mapping[str, str]) -> dict[str, Any]:
    names = names_of(session)
    listed: list[dict[str, Any]] = []
    for i, place in enumerate(names):
        column = said_of(policy, place)
        if getattr(column, "role", None) == "identifying":
            continue
        listed.append({"index": i, "name": place.told, "given": _given(column)})
    chosen = whole_number(query.get("column", ""))
    index = chosen if 0 <= chosen < len(names) else None
    if index is None:
        index = next((row["index"] for row in listed if row["given"]), listed[0]["index"] if listed else None)
    return {"listed": listed, "chosen": None if index is None else _hierarchy(session, policy, names, index)}


def _given(column: Any) -> str:
    """Which hierarchy a column has: none, "auto", or a file by its name."""
    given = getattr(column, "hierarchy", None)
    return "" if given is None else Path(given).name if isinstance(given, str) else "given in Python"


def _values(session: Session, index: int) -> dict[str, Any] | None:
    found: dict[str, Any] | None = session.kept(f"hierarchies/values-{index}.json")
    return found


def hierarchy_text(rows: list[Any]) -> str:
    """Rows as the lines of a file of ARX's form."""
    return "".join(";".join(_quoted(str(label)) for label in row) + "\n" for row in rows)


def _quoted(label: str) -> str:
    return '"' + label.replace('"', '""') + '"' if any(c in label for c in ';"\r\n') else label


def _hierarchy(session: Session, policy: Any, names: list[ColumnPlace], index: int) -> dict[str, Any]:
    from shoal.data.tables.hierarchy import Hierarchy

    column: Any = said_of(policy, names[index])
    given, found, fault = _given(column), _values(session, index) or {"values": [], "n_values": 0, "bands": []}, ""
    rows: list[Any] = []
    is_by_type = not given and getattr(column, "type", None) == "prefix"
    if given == "auto" or is_by_type:
        rows = found["bands"]
        fault = "" if rows else "values of this column have no automatic hierarchy; edit one below"
    elif given:
        try:
            tree = Hierarchy.read(column.hierarchy)
        except DataError as error:
            fault = str(error)
        else:
            row_of = {row[0]: row for row in tree.rows}
            rows = [row_of[leaf] for leaf in tree.leaf_order()]
    known = {row[0] for row in rows}
    missing = [value for value in found["values"] if value not in known] if rows else []
    edited = rows or found["bands"] or [[value, "*"] for value in found["values"]]
    return {
        "index": index,
        "name": names[index].told,
        "given": given,
        "fault": fault,
        "n_values": found["n_values"],
        "n_compared": len(found["values"]),
        "n_levels": len(rows[0]) if rows else 0,
        "n_rows": len(rows),
        "tree": tree_of(rows[:N_LEAVES]),
        "n_hidden": max(0, len(rows) - N_LEAVES),
        "missing": missing[:20],
        "n_missing": len(missing),
        "has_bands": bool(found["bands"]) and not is_by_type,
        "is_by_type": is_by_type,
        "text": hierarchy_text(edited) if len(edited) <= MOST_EDITED else "",
        "too_many": len(edited) > MOST_EDITED,
    }


def tree_of(rows: list[Any]) -> list[dict[str, Any]]:
    """Rows from fine to coarse as a tree from coarse to fine; a node that merely stays itself is shown once.

    >>> tree_of([["a", "x", "*"], ["b", "x", "*"]])[0]["inner"][0]["label"]
    'x'
    """
    root: list[dict[str, Any]] = []
    for row in rows:
        level, above = root, None
        for label in reversed(row):
            if label == above:
                continue
            if not level or level[-1]["label"] != label:
                level.append({"label": label, "inner": []})
            level, above = level[-1]["inner"], label
    return root


def _requirements(session: Session, policy: Any, workspace: Workspace, query: Mapping[str, str]) -> dict[str, Any]:
    others = [f for f in fields_of(policy, leave_out=HIDDEN) if not is_input(f, policy)]
    person = ("person", "person_knowledge", "keep_person")
    parts = {name: part for name, part in parts_of(policy).items() if name != "input"}
    models = type(policy).models()
    return {
        "required": [
            {"index": i, "model": one.model, "fields": fields, "told": _first_line(type(one))}
            for i, (one, fields) in enumerate(zip(policy.require, requirement_fields(policy), strict=True))
        ],
        "models": [(name, _first_line(model)) for name, model in models.items()],
        "parts": [
            (name, type(policy).model_fields[name].description or "", fields_of(part, f"{name}/"))
            for name, part in parts.items()
        ],
        "others": [f for f in others if f.key not in person],
    }


def _first_line(thing: Any) -> str:
    return (thing.__doc__ or "").strip().split("\n")[0]


def _sweep(session: Session, policy: Any, workspace: Workspace, query: Mapping[str, str]) -> dict[str, Any]:
    kind = kind_of_policy(policy)
    found = session.kept(SWEPT)
    try:
        trials = kind.trials(policy)
    except ShoalError as error:
        return {"refused": str(error), "found": None, "settings": []}
    infos = {name: info for part in parts_of(policy).values() for name, info in type(part).model_fields.items()}
    infos = {**type(policy).model_fields, **infos}
    settings = [
        {
            "name": name,
            "head": varied.head or name,
            "meaning": varied.meaning,
            "choices": choices_of(infos[name]) if name in infos else (),
            "usual": ", ".join(trials.methods) if i == 0 else "",
        }
        for i, (name, varied) in enumerate(trials.cell.settings.items())
    ]
    tried = [_read(path) for path in sorted((session.folder / "sweep" / "cells").glob("*.json"))]
    return {
        "refused": "",
        "sizes": ",".join(map(str, trials.sizes)),
        "settings": settings,
        "found": found,
        "picture": risk_and_loss(found["cells"], found["risk"], found["loss"]) if found else "",
        "n_tried": len([cell for cell in tried if cell]),
    }


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _made(session: Session) -> dict[str, Any] | None:
    """What was made last, and whether the policy was changed since."""
    made: dict[str, Any] | None = session.kept(MADE)
    folder = session.folder / "made" / str((made or {}).get("number", ""))
    if made is None or not (folder / "publish").is_dir():
        return None
    is_old = made["policy"] != session.text
    return {**made, "is_old": is_old, "is_of_other_data": made.get("stamp") != session.stamp, "folder": folder}


def _result(session: Session, policy: Any, workspace: Workspace, query: Mapping[str, str]) -> dict[str, Any]:
    made = _made(session)
    content = None if made is None else _read(made["folder"] / "private" / "report.json")
    shown = {} if content is None else content["report"]
    pictures = [] if made is None else _pictures(kind_of_policy(policy).pictures, shown)
    tightest = [] if made is None else [(g["sentence"], w) for g in made["guarantees"] for w in g["worst"][:3]]
    return {
        "made": made,
        "facts": shown.get("facts", []),
        "pictures": pictures,
        "tightest": [pair for pair in tightest if pair[1]["values"]],
    }


def _pictures(known: Mapping[str, str], shown: Mapping[str, Any]) -> list[Any]:
    """The pictures of the report that stand by themselves."""
    found = []
    for value in shown.values():
        name = str(value.get("drawn_by")) if isinstance(value, dict) else ""
        if name in known:
            draw: Callable[..., Any] = getattr(import_module(known[name]), name)
            found.append(without_styles(str(draw(**{k: v for k, v in value.items() if k != "drawn_by"}))))
    return found[:3]


def _attacks(session: Session, policy: Any, workspace: Workspace, query: Mapping[str, str]) -> dict[str, Any]:
    from shoal.attack.kept import KeptAttacks

    made, found = _made(session), session.kept(ATTACKED)
    kept = None if made is None else KeptAttacks.read(made["folder"] / "private")
    known = [attack.name for attack in kind_of_policy(policy).attacks]
    attacks = [(attack.name, _first_line(type(attack))) for attack in kind_of_policy(policy).attacks]
    is_here = found is not None and made is not None and found["made"] == made["number"]
    return {
        "made": made,
        "found": found if is_here else None,
        "shown": [] if kept is None else plain_shown(kept.shown(known).shown()),
        "attacks": attacks,
        "files": workspace.files(),
        "tables": list(source) if isinstance(source := session.source, Mapping) else [""],
    }


def _release(session: Session, policy: Any, workspace: Workspace, query: Mapping[str, str]) -> dict[str, Any]:
    made, found = _made(session), session.kept(PUBLISHED)
    is_here = found is not None and made is not None and found["made"] == made["number"]
    stem = f"{session.name}-release"
    free = next(n for i in range(1, 10**6) if not (workspace.top / (n := f"{stem}-{i}" if i > 1 else stem)).exists())
    files = [] if made is None else [(p.name, p.stat().st_size) for p in sorted((made["folder"] / "publish").iterdir())]
    metadata = next(f for f in fields_of(policy, leave_out=HIDDEN) if f.key == "metadata")
    has_report = made is not None and (made["folder"] / "private" / "report.html").is_file()
    return {
        "made": made,
        "found": found if is_here else None,
        "free": free,
        "files": files,
        "metadata": metadata,
        "has_report": has_report,
        "name": _below(Path(found["out"]), workspace.top) if found is not None else "",
    }


def _below(path: Path, top: Path) -> str:
    return path.relative_to(top).as_posix() if path.is_relative_to(top) else str(path)


def _history(session: Session, policy: Any, workspace: Workspace, query: Mapping[str, str]) -> dict[str, Any]:
    steps = session.steps()
    last = steps[-1] if steps else None
    shown = steps[::-1][:100]
    return {
        "steps": [(step, session.difference(step.number)) for step in shown],
        "n_hidden": len(steps) - len(shown),
        "last": last,
    }


BUILDERS: Mapping[str, Callable[[Session, Any, Workspace, Mapping[str, str]], dict[str, Any]]] = {
    "open": _open,
    "columns": _columns,
    "context": _context,
    "hierarchies": _hierarchies,
    "requirements": _requirements,
    "sweep": _sweep,
    "result": _result,
    "attacks": _attacks,
    "release": _release,
    "history": _history,
}


def screen_of(name: str, session: Session, workspace: Workspace, query: Mapping[str, str]) -> dict[str, Any]:
    """What a screen shows; where the policy cannot be read, that and the history alone."""
    try:
        policy = session.policy
    except PolicyError as error:
        if name == "history":
            return {**_history(session, None, workspace, query), "fault": str(error)}
        return {"fault": f"{error}. {_NO_POLICY}"}
    return {**BUILDERS[name](session, policy, workspace, query), "fault": ""}
