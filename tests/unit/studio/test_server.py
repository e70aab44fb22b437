"""Every page, what it shows, and what it never shows."""

from __future__ import annotations

import asyncio
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from shoal.errors import ShoalError
from shoal.studio import server
from shoal.studio.jobs import begin
from shoal.studio.security import PAGE_POLICY
from shoal.studio.server import ADDRESS, bound, told
from shoal.studio.words import SCREENS
from tests.unit.studio.client import Client, at_once, opened

HOSTILE = '<script>alert("x")</script>'


def test_the_start_page_lists_files_samples_and_sessions(tmp_path: Path) -> None:
    client = opened(tmp_path)
    page = client.get("/")
    assert "people.csv" in page.words
    assert "A table" in page.words
    assert "people-1, 2 steps" in page.words
    assert "outside of the folder" in client.get("/?folder=..").words


def test_samples_and_uploads_are_opened_and_read(tmp_path: Path) -> None:
    client = Client(tmp_path)
    assert "First rows" in client.post("/open", {"sample": "table"}).words
    answer = client.upload("/upload", "../../evil people.csv", b"age,zip\n1,2\n3,4\n")
    assert answer.status == 303
    assert "evil_people.csv" in client.get(answer.header("location")).words
    session = client.session("evil-people-1")
    assert session.paths[0].parent == session.folder / "input"
    assert session.paths[0].stat().st_mode & 0o077 == 0
    assert "no file was chosen" in client.upload("/upload", "", b"").words
    assert "no file was chosen" in client.post("/open", {}).words
    assert client.post("/open", {"place": "../../etc/passwd"}).status == 422


@pytest.mark.parametrize("screen", SCREENS)
def test_every_screen_has_its_address_the_policy_and_the_command(tmp_path: Path, screen: str) -> None:
    client = opened(tmp_path)
    page = client.get(f"/people-1/{screen}")
    assert page.status == 200
    assert f"<h1>{SCREENS[screen]}</h1>" in page.text
    assert "k = 5" in page.text
    assert "shoal anonymize" in page.text
    assert page.text.count('aria-current="page"') == 1


def test_a_page_that_is_not_there(tmp_path: Path) -> None:
    client = opened(tmp_path)
    for path in (
        "/people-1/none",
        "/nobody/columns",
        "/people-1/file/none",
        "/static/none.js",
        "/people-1/file/report",
    ):
        assert client.get(path).status == 404
    assert client.post("/people-1/none", {}).status == 404
    for path, leads_to in (("/open", "/"), ("/upload", "/"), ("/people-1/upload", "/people-1/hierarchies")):
        assert client.get(path).header("location") == leads_to


def test_what_is_no_form_is_no_defect(tmp_path: Path) -> None:
    client = Client(tmp_path)
    for kind in ("multipart/form-data; boundary=edge7", "multipart/form-data"):
        assert client.ask("POST", "/upload", {"content-type": kind}, b"--edge7\r\nno").status in (400, 403)


def test_what_is_wrong_is_said_in_place_and_nothing_is_changed(tmp_path: Path) -> None:
    client = opened(tmp_path)
    before = client.session().text
    page = client.post("/people-1/requirements", {"require/0:k-anonymity/k": "none"})
    assert page.status == 422
    assert "it must be a valid integer" in page.words
    assert 'value="none"' in page.text
    assert client.session().text == before


def test_hostile_names_and_values_are_shown_as_text(tmp_path: Path) -> None:
    quoted = HOSTILE.replace('"', '""')
    rows = "".join(f'{30 + i % 20},"{quoted}{i % 3}"\n' for i in range(60))
    name = "<img src=x onerror=alert(1)>.csv"
    (tmp_path / name).write_text(f'"{quoted}","b<u>"\n{rows}', encoding="utf-8")
    client = Client(tmp_path)
    assert client.post("/open", {"place": name}).status == 200
    (session,) = client.workspace.sessions()
    at = f"/{session.name}"
    client.post(f"{at}/context", {"context/title": HOSTILE, "context/purpose": "'\"><svg onload=alert(1)>"})
    assert client.post(f"{at}/hierarchies", {"do": "hierarchy", "column": "1", "text": f"{HOSTILE}0;*\n"}).status == 200
    client.post(f"{at}/hierarchies", {"do": "no_hierarchy", "column": "1"})
    assert begin(session, "make", {}, at_once).state == "done"
    assert begin(session, "attack", {}, at_once).state == "done"
    client.post(f"{at}/release", {"do": "publish", "out": HOSTILE.replace("/", "")})
    for path in ("/", *(f"{at}/{screen}" for screen in SCREENS), f"{at}/hierarchies?column=1"):
        page = client.get(path)
        assert page.status == 200, path
        assert not re.search(r"<(script(?! src=\"/static/)|img|svg (?!viewBox)|u>)", page.text), path
        assert "onerror=alert(1)>" not in page.text
    assert HOSTILE in client.get(f"{at}/columns").words + client.get(f"{at}/open").words


def test_pages_of_a_release_have_a_policy_of_their_own(tmp_path: Path) -> None:
    client = opened(tmp_path)
    begin(client.session(), "make", {"seed": 1}, at_once)
    for what in ("report", "datasheet"):
        page = client.get(f"/people-1/file/{what}")
        assert page.header("content-security-policy") == PAGE_POLICY
        assert "sandbox" in PAGE_POLICY
        assert "<script" not in page.text
    first, second = (client.get("/people-1/file/zip") for _ in range(2))
    assert first.header("content-disposition") == 'attachment; filename="people-1.zip"'
    assert first.body[:2] == b"PK"
    assert first.body == second.body
    assert client.get("/people-1/file/policy.toml").text == client.session().text


def test_a_spoiled_policy_is_said_on_every_page_and_can_be_mended(tmp_path: Path) -> None:
    client = opened(tmp_path)
    (client.session().folder / "policy.toml").write_text("kind = 7 <b>", encoding="utf-8")
    for screen in SCREENS:
        page = client.get(f"/people-1/{screen}")
        assert page.status == 200
        assert "not valid TOML" in page.words
    assert client.post("/people-1/history", {"do": "undo"}).status == 200
    assert "not valid TOML" not in client.get("/people-1/columns").words


def test_a_defect_says_nothing_of_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    client = opened(tmp_path)

    def broken(*_: object) -> None:
        raise RuntimeError("person 7 has the flu")

    monkeypatch.setattr(server, "screen_of", broken)
    monkeypatch.delenv("SHOAL_TRACEBACK", raising=False)
    page = client.get("/people-1/columns")
    assert page.status == 500
    assert "defect of Shoal (RuntimeError)" in page.words
    assert "flu" not in page.text
    assert "flu" not in "".join(capsys.readouterr())


def test_other_tabs_hear_of_changes(tmp_path: Path) -> None:
    client = opened(tmp_path)
    assert json.loads(client.get("/people-1/state").text)["step"] == 2
    seen: list[Any] = []

    async def listen() -> None:
        asked = {
            "type": "http",
            "method": "GET",
            "path": "/people-1/events",
            "query_string": b"",
            "headers": [(b"host", b"127.0.0.1:8000"), (b"cookie", client.cookie.encode())],
        }
        over = asyncio.Event()

        async def receive() -> dict[str, Any]:
            await over.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message.get("body"):
                seen.append(json.loads(message["body"].decode().removeprefix("data: ")))
                if len(seen) == 1:
                    session = client.session()
                    session.change(session.text.replace("k = 5", "k = 6"), "k = 6")
                else:
                    client.studio.is_over = True
                    over.set()

        await asyncio.wait_for(client.app(asked, receive, send), 120)

    asyncio.run(listen())
    assert [one["step"] for one in seen] == [2, 3]
    assert told(client.session())["job"]["state"] == "done"


def test_the_socket_is_on_this_machine_alone() -> None:
    first = bound(0)
    try:
        host, port = first.getsockname()
        assert host == ADDRESS == "127.0.0.1"
        first.listen()
        with pytest.raises(ShoalError, match=f"port {port} cannot be taken"):
            bound(port)
    finally:
        first.close()


def test_200_reloads_and_new_servers_at_random_moments_lose_no_decision(tmp_path: Path) -> None:
    """A server knows nothing that is not in files: another one takes its place, and pages show the last decision."""
    client = opened(tmp_path)
    draws, k = random.Random(200), 5
    for i in range(200):
        if i % 10 == 0 or draws.random() < 0.1:
            client = Client(tmp_path)
        if draws.random() < 0.3:
            k = draws.randrange(2, 20)
            fields = {"require/0:k-anonymity/k": str(k), "step": str(client.session().last)}
            assert client.post("/people-1/requirements", fields, follow=False).status == 303
        if draws.random() < 0.2:
            assert f'value="{k}"' in client.get("/people-1/requirements").text
        assert client.session().policy.k == k
    assert [s.text for s in client.session().steps()][-1] == client.session().text
