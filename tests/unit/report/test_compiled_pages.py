"""The tests of `report/compiled_pages.py`."""

from __future__ import annotations

import pytest
from jinja2 import DictLoader, Environment

from shoal.report.compiled_pages import CompiledPages

PAGES = {"a.html": "{{ x }} and {{ x + 1 }}"}


def _drawn(folder, pages=PAGES):
    return (
        Environment(loader=DictLoader(pages), bytecode_cache=CompiledPages(folder)).get_template("a.html").render(x=1)
    )


def test_what_was_compiled_is_kept_and_used(tmp_path, monkeypatch):
    assert _drawn(tmp_path / "kept") == "1 and 2"
    assert len(list((tmp_path / "kept").iterdir())) == 1
    monkeypatch.setattr(Environment, "_generate", lambda *_: pytest.fail("was compiled again"))
    assert _drawn(tmp_path / "kept") == "1 and 2"


def test_a_changed_template_is_compiled_anew(tmp_path):
    _drawn(tmp_path / "kept")
    assert _drawn(tmp_path / "kept", {"a.html": "changed"}) == "changed"


@pytest.mark.parametrize("content", [b"", b"no code at all", b"j2\0\0"])
def test_what_cannot_be_read_is_compiled_anew(tmp_path, content):
    _drawn(tmp_path / "kept")
    (kept,) = (tmp_path / "kept").iterdir()
    whole = kept.read_bytes()
    for broken in (content, whole[: len(whole) // 2], whole[:-1]):
        kept.write_bytes(broken)
        assert _drawn(tmp_path / "kept") == "1 and 2"


def test_a_folder_that_cannot_be_made_is_no_reason_to_fail(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    assert _drawn(tmp_path / "file" / "kept") == "1 and 2"
