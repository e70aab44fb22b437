"""Who is answered, and who is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.studio.security import CONTENT_POLICY, Keys
from tests.unit.studio.client import ORIGIN, PORT, Client, opened

HOST = f"127.0.0.1:{PORT}"


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path)


def test_keys_are_long_and_new_each_time() -> None:
    one, other = Keys(), Keys()
    assert len({one.token, one.cookie, one.form, other.token, other.cookie, other.form}) == 6
    assert min(map(len, (one.token, one.cookie, one.form))) >= 40


def test_the_token_is_exchanged_for_a_strict_cookie(client: Client) -> None:
    answer = client.ask("GET", f"/?token={client.keys.token}", {"host": HOST}, own=False)
    assert answer.status == 200
    cookie = answer.header("set-cookie")
    assert cookie == f"{client.cookie}; Path=/; HttpOnly; SameSite=Strict"
    assert client.keys.token not in answer.text + cookie
    assert client.get("/").status == 200


def test_the_key_that_a_browser_is_started_with_is_good_for_once(client: Client) -> None:
    once = client.keys.once
    assert client.ask("GET", f"/?token={once}", {"host": HOST}, own=False).header("set-cookie")
    assert client.ask("GET", f"/?token={once}", {"host": HOST}, own=False).status == 403
    assert client.ask("GET", "/?token=", {"host": HOST}, own=False).status == 403
    late = Keys(until=0.0)
    assert not late.takes(late.once)
    assert late.takes(late.token)


def test_the_address_may_be_clicked_anywhere(client: Client) -> None:
    clicked = {"host": HOST, "sec-fetch-site": "cross-site"}
    assert client.ask("GET", f"/?token={client.keys.token}", clicked, own=False).status == 200
    assert client.ask("GET", "/", {**clicked, "cookie": client.cookie}, own=False).status == 403


@pytest.mark.parametrize("token", ["", "x", "a" * 43])
def test_a_wrong_token_gets_nothing(client: Client, token: str) -> None:
    answer = client.ask("GET", f"/?token={token}", {"host": HOST, "cookie": client.cookie}, own=False)
    assert answer.status == 403 if token else answer.status in (200, 403)
    assert not answer.header("set-cookie")


@pytest.mark.parametrize("cookie", ["", "x=y", f"shoal_studio_{PORT}=wrong", "shoal_studio_1=x", '"; a=\\'])
def test_without_the_cookie_nothing_is_answered(client: Client, cookie: str) -> None:
    for path in ("/", "/static/studio.js", "/people-1/columns"):
        answer = client.ask("GET", path, {"host": HOST, "cookie": cookie}, own=False)
        assert answer.status == 403
        assert "address that `shoal studio` printed" in answer.text


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "evil.example:8000", f"127.0.0.1.evil.example:{PORT}", ""]
)
def test_another_host_is_refused(client: Client, host: str) -> None:
    assert client.ask("GET", "/", {"host": host}).status == 421
    assert client.ask("GET", f"/?token={client.keys.token}", {"host": host}).status == 421


def test_localhost_is_our_name_too(client: Client) -> None:
    assert client.ask("GET", "/", {"host": f"localhost:{PORT}"}).status == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", f"https://127.0.0.1:{PORT}", "http://127.0.0.1:1", ""]
)
def test_a_foreign_origin_is_refused(tmp_path: Path, origin: str) -> None:
    client = opened(tmp_path)
    before = client.session().last
    body = f"form={client.keys.form}&do=undo".encode()
    headers = {"origin": origin, "content-type": "application/x-www-form-urlencoded"}
    assert client.ask("POST", "/people-1/history", headers, body).status == 403
    assert client.session().last == before


def test_a_change_without_an_origin_or_from_another_site_is_refused(client: Client) -> None:
    form = {"content-type": "application/x-www-form-urlencoded", "host": HOST, "cookie": client.cookie}
    assert client.ask("POST", "/open", form, b"form=x", own=False).status == 403
    assert client.ask("GET", "/", {"sec-fetch-site": "cross-site"}).status == 403
    assert client.ask("GET", "/", {"sec-fetch-site": "same-origin"}).status == 200
    assert client.ask("GET", "/", {"origin": "http://evil.example"}).status == 403


@pytest.mark.parametrize("key", ["", "wrong"])
def test_a_form_without_its_key_changes_nothing(tmp_path: Path, key: str) -> None:
    client = opened(tmp_path)
    before = client.session().text
    for path in ("/people-1/columns", "/people-1/history", "/people-1/upload", "/open", "/upload"):
        assert client.post(path, {"form": key, "do": "undo", "screen": "history"}).status == 403
    assert client.session().text == before


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_other_methods_are_refused(client: Client, method: str) -> None:
    assert client.ask(method, "/", {"origin": ORIGIN}).status == 405


def test_uploads_are_bounded_whatever_they_say(tmp_path: Path) -> None:
    client = Client(tmp_path, most_upload=5000)
    answer = client.upload("/upload", "big.csv", b"x" * 10_000)
    assert answer.status == 413
    lying = client.ask(
        "POST", "/upload", {"content-type": "multipart/form-data; boundary=b", "content-length": "10"}, b"x" * 200_000
    )
    assert lying.status == 413
    assert list(client.workspace.home.iterdir()) == []
    assert client.ask("POST", "/open", {"content-length": "-1"}, b"").status == 413
    form = b"form=" + b"x" * 2_100_000
    assert client.ask("POST", "/open", {"content-type": "application/x-www-form-urlencoded"}, form).status == 413


def test_every_answer_forbids_what_is_not_ours(client: Client) -> None:
    for answer in (client.get("/"), client.get("/none/columns"), client.ask("GET", "/", {"host": "x"})):
        assert answer.header("content-security-policy") == CONTENT_POLICY
        assert answer.header("x-content-type-options") == "nosniff"
        assert answer.header("x-frame-options") == "DENY"
        assert answer.header("cache-control") == "no-store"
        assert answer.header("referrer-policy") == "same-origin"
    assert "unsafe" not in CONTENT_POLICY


def test_pages_hold_no_script_or_style_of_their_own(tmp_path: Path) -> None:
    client = opened(tmp_path)
    for path in ("/", *(f"/people-1/{screen}" for screen in ("open", "columns", "requirements", "history"))):
        page = client.get(path).text
        assert "<style" not in page
        assert " style=" not in page
        assert " onclick" not in page
        assert page.count("<script") == page.count('<script src="/static/') == 2
