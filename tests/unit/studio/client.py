"""A browser without a browser: requests to the studio's application, within this process, and work done at once."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from functools import cache
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

from shoal.studio.jobs import Job
from shoal.studio.security import Keys
from shoal.studio.server import Studio
from shoal.studio.session import LOOKED, Session
from shoal.studio.work import run_job
from shoal.studio.workspace import Sample, Workspace

PORT = 8000
ORIGIN = f"http://127.0.0.1:{PORT}"
PEOPLE = "name,age,zip,disease\n" + "".join(
    f"person {i},{20 + i % 40},{10000 + 7 * (i % 12)},{('flu', 'cold', 'ulcer')[i % 3]}\n" for i in range(60)
)


def at_once(session: Session, job: Job) -> None:
    """Do a job here and now."""
    run_job(session, job)


class Answer:
    """What came back."""

    def __init__(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def text(self) -> str:
        """The page."""
        return self.body.decode()

    def header(self, name: str) -> str:
        """A header; empty where it is not there."""
        return next((value for key, value in self.headers if key.lower() == name), "")

    @property
    def words(self) -> str:
        """What a reader sees of the page."""
        return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", self.text)))


class Client:
    """Asks as the browser would that has the cookie."""

    def __init__(self, top: Path, *, start: Any = at_once, most_upload: int = 1_000_000) -> None:
        samples = {"table": Sample("A table", "people.csv", None, lambda folder: _write(folder))}
        self.workspace = Workspace.at(top, None, samples)
        self.keys = Keys()
        self.studio = Studio(self.workspace, self.keys, start)
        self.app = self.studio.app(PORT, most_upload)
        self.cookie = f"shoal_studio_{PORT}={self.keys.cookie}"

    def ask(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes = b"", *, own: bool = True
    ) -> Answer:
        """Send a request; `own` adds what our own browser sends."""
        path, _, query = path.partition("?")
        sent = {"host": f"127.0.0.1:{PORT}"} if own else {}
        sent |= {"cookie": self.cookie} if own else {}
        sent |= {"origin": ORIGIN} if own and method == "POST" else {}
        sent |= {"content-length": str(len(body))} if body else {}
        sent |= dict(headers or {})
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(n.lower().encode(), v.encode("latin-1")) for n, v in sent.items()],
            "scheme": "http",
            "server": ("127.0.0.1", PORT),
            "client": ("127.0.0.1", 1),
        }
        return asyncio.run(self._ask(scope, body))

    async def _ask(self, scope: dict[str, Any], body: bytes) -> Answer:
        parts = [body[i : i + 65536] for i in range(0, len(body), 65536)] or [b""]
        got: list[Any] = []

        async def receive() -> dict[str, Any]:
            if not parts:
                return {"type": "http.disconnect"}
            part = parts.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(parts)}

        async def send(message: Any) -> None:
            got.append(message)

        await self.app(scope, receive, send)
        headers = [(n.decode(), v.decode()) for n, v in got[0]["headers"]]
        return Answer(got[0]["status"], headers, b"".join(m.get("body", b"") for m in got[1:]))

    def get(self, path: str) -> Answer:
        """Load a page."""
        return self.ask("GET", path)

    def post(self, path: str, fields: Mapping[str, str | list[str]], *, follow: bool = True) -> Answer:
        """Send a form of ours, and load the page that it leads to."""
        body = urlencode({"form": self.keys.form, **fields}, doseq=True).encode()
        answer = self.ask("POST", path, {"content-type": "application/x-www-form-urlencoded"}, body)
        return self.get(answer.header("location")) if follow and answer.status == 303 else answer

    def upload(self, path: str, name: str, content: bytes, **fields: str) -> Answer:
        """Send a form with a file."""
        edge = "edge7"
        lines = [
            f'--{edge}\r\ncontent-disposition: form-data; name="{n}"\r\n\r\n{v}\r\n'
            for n, v in {"form": self.keys.form, **fields}.items()
        ]
        head = f'--{edge}\r\ncontent-disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        body = "".join(lines).encode() + head.encode() + content + f"\r\n--{edge}--\r\n".encode()
        return self.ask("POST", path, {"content-type": f"multipart/form-data; boundary={edge}"}, body)

    def session(self, name: str = "people-1") -> Session:
        """A session that there is."""
        found = self.workspace.session(name)
        assert found is not None
        return found


def _write(folder: Path) -> None:
    (folder / "people.csv").write_text(PEOPLE, encoding="utf-8")


def opened(top: Path, **how: Any) -> Client:
    """A studio with the people opened and read, which is done once and copied then."""
    (top / "people.csv").write_text(PEOPLE, encoding="utf-8")
    client = Client(top, **how)
    session = client.workspace.home / "people-1"
    for name, content in _read_once().items():
        path = session / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(content)
    for name in ("made", "hierarchies"):
        (session / name).mkdir(exist_ok=True)
    Session(session).keep("source.json", {"paths": [str(top / "people.csv")], "kind": None})
    found = Session(session)
    found.keep(LOOKED, {**found.kept(LOOKED), "stamp": found.stamp})
    return client


@cache
def _read_once() -> dict[str, bytes]:
    with TemporaryDirectory() as folder:
        top = Path(folder)
        (top / "people.csv").write_text(PEOPLE, encoding="utf-8")
        client = Client(top)
        assert client.post("/open", {"place": "people.csv"}).status == 200
        session = client.session().folder
        return {str(p.relative_to(session)): p.read_bytes() for p in session.rglob("*") if p.is_file()}
