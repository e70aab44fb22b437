"""Who may ask the studio for anything: the browser that was given the token, on this machine, from our own pages.

Every request has to name this server as its host (another name that leads here is DNS rebinding), to carry the cookie
that the token was exchanged for, and not to come from another site. A change has to come from our own origin, with
the token of the form. Answers forbid scripts and styles that are not files of ours, frames, and keeping copies.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; sandbox"
)
"""For pages of releases, which are whole in themselves and have no script."""
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
MOST_FORM = 2_000_000
"""Bytes of a form that holds no file."""
MOST_UPLOAD = 2_000_000_000
UPLOAD = "/upload"
SECONDS_OF_ONCE = 120.0
"""How long a browser may take to start."""


@dataclass
class Keys:
    """What this server and its browser know, and nobody else.

    Attributes
    ----------
    token : str
        Stands in the address that the command line prints, and is exchanged for the cookie.
    once : str
        The same for the browser that is started here: a command's words can be read by every user of the machine, so
        it is worth nothing after its first use, or after a while.
    cookie, form : str
        What the browser sends with every request, and what forms send with every change.
    """

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    once: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    form: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    until: float = field(default_factory=lambda: time.monotonic() + SECONDS_OF_ONCE)

    def takes(self, token: str) -> bool:
        """Whether a token of an address is exchanged for the cookie."""
        if self.once and same(token, self.once):
            self.once = ""
            return time.monotonic() < self.until
        return same(token, self.token)


class Refused(Exception):
    """A request that is not answered; its sentence quotes nothing of it."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


class Gate:
    """Stands before the application, and lets through what may pass."""

    def __init__(self, app: App, keys: Keys, port: int, most_upload: int = MOST_UPLOAD) -> None:
        self.app, self.keys, self.port, self.most_upload = app, keys, port, most_upload
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.cookie_name = f"shoal_studio_{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        answered = [False]

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered[0] = True
                message["headers"] = _with_headers(message.get("headers", []))
            await send(message)

        try:
            headers = _headers(scope)
            self._refuse_strangers(scope, headers)
            query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
            if scope["method"] == "GET" and "token" in query:  # wherever the address was clicked
                await self._exchange(query["token"][0], guarded)
                return
            _refuse_other_sites(headers)
            self._refuse_without_cookie(headers)
            is_file = scope["path"] == UPLOAD or scope["path"].endswith(UPLOAD)
            bounded = _bounded(receive, headers, self.most_upload if is_file else MOST_FORM)
            await self.app(scope, bounded, guarded)
        except Refused as refused:
            if not answered[0]:
                await _say(guarded, refused.status, refused.sentence)

    def _refuse_strangers(self, scope: Scope, headers: dict[str, list[str]]) -> None:
        hosts = headers.get("host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            raise Refused(421, "This server answers to its own name alone.")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            raise Refused(405, "Pages are read, and forms are sent; nothing else is understood.")
        own = {f"http://{host}" for host in self.hosts}
        origins = headers.get("origin", [])
        if any(origin not in own for origin in origins) or (scope["method"] == "POST" and len(origins) != 1):
            raise Refused(403, "This came from another site, and was refused.")

    def _refuse_without_cookie(self, headers: dict[str, list[str]]) -> None:
        found = ""
        for text in headers.get("cookie", []):
            try:
                jar = SimpleCookie(text)
            except CookieError:
                continue
            if self.cookie_name in jar:
                found = jar[self.cookie_name].value
        if not same(found, self.keys.cookie):
            raise Refused(403, "Open the address that `shoal studio` printed, which holds a key to these pages.")

    async def _exchange(self, token: str, send: Send) -> None:
        if not self.keys.takes(token):
            raise Refused(
                403, "The key in the address is not the one that `shoal studio` printed, or was used; open that one."
            )
        cookie = f"{self.cookie_name}={self.keys.cookie}; Path=/; HttpOnly; SameSite=Strict"
        # A redirect would count as coming from wherever the address was clicked; a page that moves on is our own.
        page = (
            '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Shoal studio</title>'
            '<link rel="icon" href="data:,">'
            '<meta http-equiv="refresh" content="0; url=/"><p><a href="/">Go to the studio</a></p></html>'
        )
        headers = [(b"set-cookie", cookie.encode()), (b"content-type", b"text/html; charset=utf-8")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": page.encode()})


def same(given: str, known: str) -> bool:
    """Whether two secrets are the same, told in the same time wherever they differ."""
    return hmac.compare_digest(given.encode(), known.encode())


def _refuse_other_sites(headers: dict[str, list[str]]) -> None:
    if headers.get("sec-fetch-site", ["none"])[0] not in ("same-origin", "none"):
        raise Refused(403, "This came from another site, and was refused.")


def _headers(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _with_headers(own: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    said = {name.lower() for name, _ in own}
    wanted = {"content-security-policy": CONTENT_POLICY, **HEADERS}
    return [*own, *((n.encode(), v.encode()) for n, v in wanted.items() if n.encode() not in said)]


def _bounded(receive: Receive, headers: dict[str, list[str]], most: int) -> Receive:
    """The same body, unless it is longer than allowed."""
    length = headers.get("content-length", ["0"])[0]
    if not (length.isascii() and length.isdigit() and len(length) < 20) or int(length) > most:
        raise Refused(413, f"That is more than the {most:,} bytes that are taken.")
    n_read = [0]

    async def counted() -> Message:
        message = await receive()
        n_read[0] += len(message.get("body", b""))
        if n_read[0] > most:
            raise Refused(413, f"That is more than the {most:,} bytes that are taken.")
        return message

    return counted


async def _say(send: Send, status: int, sentence: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{sentence}\n".encode()})
