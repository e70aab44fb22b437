"""The application that answers the browser, and the server on this machine's own address that runs it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from shoal.errors import PolicyError, ShoalError
from shoal.kinds import HOMES
from shoal.studio import actions, jobs
from shoal.studio.jobs import Starter, gather, last_job, start_process
from shoal.studio.pages import render, static_file
from shoal.studio.screens import screen_of
from shoal.studio.security import MOST_UPLOAD, PAGE_POLICY, SECONDS_OF_ONCE, Gate, Keys, Refused, same
from shoal.studio.session import LOOKED, Session
from shoal.studio.words import SCREENS, as_command
from shoal.studio.workspace import Workspace, safe_name

ADDRESS = "127.0.0.1"
BETWEEN_LOOKS = 0.4
"""Seconds between two looks at whether something changed."""
MOST_FIELDS = 20_000
MOST_FILES = 20
_DEFECT = "This is a defect of Shoal ({}); nothing was changed. Please report it."


class Studio:
    """All pages of one workspace."""

    def __init__(self, workspace: Workspace, keys: Keys, start: Starter = start_process) -> None:
        self.workspace, self.keys, self.start = workspace, keys, start
        self.is_over = False

    def app(self, port: int, most_upload: int = MOST_UPLOAD) -> Gate:
        """The application behind its guard."""

        @asynccontextmanager
        async def life(_: Starlette) -> AsyncIterator[None]:
            yield
            self.is_over = True

        routes = [
            Route("/", self._answer(self.home)),
            Route("/open", self._answer(self.open), methods=["POST"]),
            Route("/open", self._answer(self.back), methods=["GET"]),
            Route("/upload", self._answer(self.back), methods=["GET"]),
            Route("/upload", self._answer(self.upload), methods=["POST"]),
            Route("/static/{file}", self._answer(self.static)),
            Route("/{name}/events", self._answer(self.events)),
            Route("/{name}/state", self._answer(self.state)),
            Route("/{name}/file/{what}", self._answer(self.file)),
            Route("/{name}/upload", self._answer(self.change), methods=["POST"]),
            Route("/{name}/upload", self._answer(self.back), methods=["GET"]),
            Route("/{name}/{screen}", self._answer(self.page), methods=["GET"]),
            Route("/{name}/{screen}", self._answer(self.change), methods=["POST"]),
        ]
        return Gate(Starlette(routes=routes, lifespan=life), self.keys, port, most_upload)

    def _answer(self, handle: Callable[[Request], Any]) -> Callable[[Request], Any]:
        """Answer with what a handler says; no error leaves it with a word about data."""

        async def answer(request: Request) -> Response:
            try:
                response: Response = await handle(request)
                return response
            except Refused as refused:
                return PlainTextResponse(f"{refused.sentence}\n", refused.status)
            except ClientDisconnect:
                return Response(status_code=400)
            except HTTPException as refused:  # a form that is none
                return PlainTextResponse("The form cannot be read; load the page again.\n", refused.status_code)
            except ShoalError as error:
                return HTMLResponse(render("plain.html", sentence=str(error), title="Not possible"), 422)
            except Exception as error:
                if os.environ.get("SHOAL_TRACEBACK"):
                    raise
                sentence = _DEFECT.format(type(error).__name__)
                return HTMLResponse(render("plain.html", sentence=sentence, title="A defect"), 500)

        return answer

    async def _form(self, request: Request) -> FormData:
        form = await request.form(max_files=MOST_FILES, max_fields=MOST_FIELDS)
        given = form.get("form")
        if not isinstance(given, str) or not same(given, self.keys.form):
            raise Refused(403, "The form does not hold the key that our own pages have; load the page again.")
        return form

    def _session(self, request: Request) -> Session:
        session = self.workspace.session(request.path_params["name"])
        if session is None:
            raise Refused(404, "There is no such session; go to the start page.")
        return session

    async def home(self, request: Request) -> Response:
        """The start page: files of the folder, invented data, earlier sessions."""
        return HTMLResponse(await run_in_threadpool(self._home, request.query_params.get("folder", "")))

    def _home(self, folder: str, error: str = "") -> str:
        try:
            files = self.workspace.files(folder)
        except ShoalError as refused:
            files, error, folder = self.workspace.files(), error or str(refused), ""
        above = None if not folder else Path(folder).parent.as_posix().removeprefix(".")
        from shoal.kind import kinds

        return render(
            "home.html",
            form=self.keys.form,
            files=files,
            folder=folder,
            above=above,
            top=str(self.workspace.top),
            samples=self.workspace.samples,
            sessions=[(s.name, ", ".join(p.name for p in s.paths), s.last) for s in self.workspace.sessions()],
            kinds=[(kind.name, kind.policy.noun) for kind in kinds()],
            error=error,
        )

    async def back(self, request: Request) -> Response:
        """A form's address that is loaded as a page, as after a reload: the page that the form stands on."""
        name = request.path_params.get("name")
        return RedirectResponse("/" if name is None else f"/{self._session(request).name}/hierarchies", 303)

    async def open(self, request: Request) -> Response:
        """Begin a session of files of the folder, or of invented data."""
        form = await self._form(request)
        places, sample, kind = form.getlist("place"), form.get("sample"), form.get("kind") or None
        kind = kind if isinstance(kind, str) and kind in HOMES else None

        def begin() -> Session:
            if isinstance(sample, str):
                return self.workspace.open_sample(sample)
            return self.workspace.open([str(place) for place in places], kind)

        try:
            session = await run_in_threadpool(begin)
        except ShoalError as error:
            folder = str(form.get("folder") or "")
            return HTMLResponse(await run_in_threadpool(self._home, folder, str(error)), 422)
        return await self._begun(session)

    async def upload(self, request: Request) -> Response:
        """Begin a session of files that the browser sends, kept in a folder of their own."""
        form = await self._form(request)
        files = [file for file in form.getlist("file") if isinstance(file, UploadFile) and file.filename]
        kind = form.get("kind") or None
        kind = kind if isinstance(kind, str) and kind in HOMES else None
        if not files:
            page = await run_in_threadpool(self._home, "", "no file was chosen; choose one")
            return HTMLResponse(page, 422)
        names = [safe_name(file.filename or "") for file in files]

        def keep() -> Session:
            if len(set(names)) < len(names):
                raise ShoalError("two of the files have the same name, by which tables are told apart; rename one")
            inputs = self.workspace.new_input()
            try:
                for name, file in zip(names, files, strict=True):
                    with open(inputs / name, "xb", opener=_owners) as kept:
                        shutil.copyfileobj(file.file, kept, 1 << 20)
                return self.workspace.open_upload(inputs, names, kind)
            finally:
                shutil.rmtree(inputs, ignore_errors=True)

        try:
            session = await run_in_threadpool(keep)
        except ShoalError as error:
            return HTMLResponse(await run_in_threadpool(self._home, "", str(error)), 422)
        return await self._begun(session)

    async def _begun(self, session: Session) -> Response:
        await run_in_threadpool(jobs.begin, session, "look", {}, self.start)
        return RedirectResponse(f"/{session.name}/open", 303)

    async def page(self, request: Request) -> Response:
        """One screen of a session."""
        session, screen = self._session(request), request.path_params["screen"]
        if screen not in SCREENS:
            raise Refused(404, "There is no such page.")
        return HTMLResponse(await run_in_threadpool(self.drawn, session, screen, dict(request.query_params)))

    def drawn(
        self,
        session: Session,
        screen: str,
        query: dict[str, str],
        error: str = "",
        typed: dict[str, str] | None = None,
    ) -> str:
        """A screen as a page."""
        gather()
        number = session.last  # before anything else is read: what is newer then brings a new look
        job = last_job(session)
        shown = screen_of(screen, session, self.workspace, query)
        try:
            text = session.text
        except PolicyError as fault:
            text = str(fault)
        names = list(SCREENS)
        place = names.index(screen)
        return render(
            f"{screen}.html" if not shown["fault"] or screen == "history" else "fault.html",
            session=session.name,
            title=", ".join(path.name for path in session.paths),
            screen=screen,
            step=number,
            job=None if job is None else job.told,
            policy_text=text,
            command=_command(session, shown.get("made")),
            is_changed=_is_changed(session),
            form=self.keys.form,
            error=error,
            typed=typed or {},
            query=query,
            next_screen=names[place + 1] if place + 1 < len(names) else None,
            **shown,
        )

    async def change(self, request: Request) -> Response:
        """What a form of a screen asks for; the screen again, or what is wrong, in place."""
        session = self._session(request)
        form = await self._form(request)
        screen = request.path_params.get("screen") or str(form.get("screen") or "")
        if screen not in SCREENS:
            raise Refused(404, "There is no such page.")
        fields = {name: text for name, text in form.multi_items() if isinstance(text, str)}
        file = form.get("file")
        content = b""
        if isinstance(file, UploadFile) and file.filename:
            content = await file.read(actions.MOST_HIERARCHY + 1)
        query = {"column": fields["column"]} if "column" in fields else {}

        def act() -> str:
            return actions.act(session, screen, fields, content, self.workspace, self.start)

        try:
            target = await run_in_threadpool(act)
        except ShoalError as error:
            typed = await run_in_threadpool(actions.typed_otherwise, session, fields)
            page = await run_in_threadpool(self.drawn, session, screen, query, str(error), typed)
            return HTMLResponse(page, 422)
        suffix = f"?{urlencode(query)}" if query and target == screen else ""
        return RedirectResponse(f"/{session.name}/{target}{suffix}", 303)

    async def static(self, request: Request) -> Response:
        """A file of ours that pages load."""
        found = static_file(request.path_params["file"])
        if found is None:
            raise Refused(404, "There is no such file.")
        return Response(found[0], media_type=found[1])

    async def file(self, request: Request) -> Response:
        """Something of a session to look at or to keep: pages of its release, its data in one file, its policy."""
        session, what = self._session(request), request.path_params["what"]
        found = await run_in_threadpool(actions.file_of, session, what, dict(request.query_params), self.workspace)
        if found is None:
            raise Refused(404, "There is no such file.")
        content, kind, name = found
        headers = {"content-disposition": f'attachment; filename="{name}"'} if name else {}
        if kind.startswith("text/html"):
            headers["content-security-policy"] = PAGE_POLICY
        return Response(content, media_type=kind, headers=headers)

    async def state(self, request: Request) -> Response:
        """What is the last step, and how far a job is; for browsers without events."""
        return JSONResponse(await run_in_threadpool(told, self._session(request)))

    async def events(self, request: Request) -> Response:
        """The same whenever it changes, for as long as the page is open."""
        session = self._session(request)

        async def changes() -> AsyncIterator[str]:
            before = ""
            while not self.is_over and not await request.is_disconnected():
                now = json.dumps(await run_in_threadpool(told, session))
                if now != before:
                    yield f"data: {now}\n\n"
                    before = now
                await asyncio.sleep(BETWEEN_LOOKS)

        return StreamingResponse(changes(), media_type="text/event-stream")


def told(session: Session) -> dict[str, Any]:
    """What pages of a session wait for."""
    gather()
    job = last_job(session)
    return {"step": session.last, "job": None if job is None else job.told}


def _command(session: Session, made: dict[str, Any] | None) -> str:
    """The command that makes what is shown, or what would be made."""
    if made is None or made["is_old"]:
        return as_command(session)
    return as_command(session, 0 if made["seeded"] else None, made["held_out"])


def _is_changed(session: Session) -> bool:
    """Whether a file was written to after it was read."""
    found = session.kept(LOOKED)
    return found is not None and found.get("stamp") != session.stamp


def _owners(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def bound(port: int) -> socket.socket:
    """A socket on this machine's own address, which nobody else can reach."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((ADDRESS, port))
        found.listen()  # so that a browser that is quick waits
    except OSError as error:
        found.close()
        raise ShoalError(
            f"the port {port} cannot be taken: {error.strerror or error}; name another with --port, or none"
        ) from None
    return found


def serve(workspace: Workspace, port: int, ready: Callable[[str, str], None], first: Session | None = None) -> None:
    """Serve the workspace until it is interrupted; `ready` is told the address with its key, and one good for once."""
    import logging

    import uvicorn

    logging.getLogger("python_multipart").setLevel(logging.CRITICAL + 1)  # which tells of bytes that were sent
    tempfile.tempdir = str(workspace.home)  # where uploads wait until they are whole, too

    keys = Keys()
    listening = bound(port)
    port = listening.getsockname()[1]
    studio = Studio(workspace, keys)
    config = uvicorn.Config(
        studio.app(port),
        log_config=None,
        access_log=False,
        log_level="critical",
        server_header=False,
        timeout_graceful_shutdown=1,
        lifespan="on",
    )
    server = uvicorn.Server(config)

    async def run() -> None:
        async def watch() -> None:  # so that open streams of events end when the server is to
            while not server.should_exit:
                await asyncio.sleep(0.1)
            studio.is_over = True

        watching = asyncio.ensure_future(watch())
        try:
            await server.serve(sockets=[listening])
        finally:
            watching.cancel()

    try:
        if first is not None:
            jobs.begin(first, "look", {}, start_process)
        here = f"http://{ADDRESS}:{port}/?token="
        keys.until = time.monotonic() + SECONDS_OF_ONCE
        ready(here + keys.token, here + keys.once)
        asyncio.run(run())
    except KeyboardInterrupt:
        pass
    finally:
        jobs.stop_all()
