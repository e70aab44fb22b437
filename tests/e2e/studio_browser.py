"""Debian's chromium on pages of the studio: how it is started, and what is counted of what a person does."""

from __future__ import annotations

import re
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import command_line, environment
from tests.unit.studio.client import at_once

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
PATIENCE = 240_000
"""Milliseconds after which something is taken never to come; nothing is measured by it."""

needs_chromium = pytest.mark.skipif(not CHROMIUM.exists(), reason="there is no /usr/bin/chromium to drive")


@contextmanager
def started() -> Iterator[Any]:
    """Chromium, for several tests: to start it takes seconds."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield chromium
        chromium.close()


@contextmanager
def browser(chromium: Any, **how: Any) -> Iterator[Any]:
    """A window that knows nothing of others; errors of its pages are errors of the test."""
    window = chromium.new_context(**how)
    window.set_default_timeout(PATIENCE)
    complaints: list[str] = []
    window.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    window.on("weberror", lambda error: complaints.append(str(error.error)))
    yield window
    window.close()
    assert not [c for c in complaints if "422" not in c], (
        complaints
    )  # a form that is refused is told to the console too


@contextmanager
def served(top: Path, samples: Mapping[str, Any] | None = None, start: Any = at_once) -> Iterator[str]:
    """The studio of a folder in a thread of this process; its address."""
    import uvicorn

    from shoal.studio.security import Keys
    from shoal.studio.server import Studio, bound
    from shoal.studio.workspace import Workspace

    keys, listening = Keys(), bound(0)
    port = listening.getsockname()[1]
    studio = Studio(Workspace.at(top, None, samples), keys, start)
    config = uvicorn.Config(
        studio.app(port), log_config=None, access_log=False, lifespan="on", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{port}/?token={keys.token}"
    studio.is_over = server.should_exit = True
    thread.join(60)


@contextmanager
def command(top: Path, *more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`shoal studio` in a process of its own, as a user starts it; the process and the address that it prints."""
    process = subprocess.Popen(
        command_line(["studio", "--folder", top, "--no-browser", *more]),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=top,
        env=environment(PYTHONUNBUFFERED="1"),
    )
    assert process.stdout is not None
    address = ""
    while not address:
        line = process.stdout.readline()
        assert line, "the studio ended early"
        address = line.strip() if line.strip().startswith("http://") else ""
    try:
        yield process, address
    finally:
        process.terminate()
        process.wait(60)


class Person:
    """Somebody who clicks, and is counted."""

    def __init__(self, page: Any) -> None:
        self.page, self.n_clicks = page, 0

    def click(self, role: str, name: str) -> None:
        """Click something by what it is called."""
        self.page.get_by_role(role, name=name, exact=True).click()
        self.n_clicks += 1

    def choose(self, name: str, word: str) -> None:
        """Choose a word of a list, which is two clicks, once the page's script is there to hear of it."""
        words = self.page.get_by_role("combobox", name=name, exact=True)
        words.wait_for()
        self.page.wait_for_load_state("load")
        words.select_option(word)
        self.n_clicks += 2

    def sees(self, text: str) -> None:
        """Wait until something is on the page."""
        self.page.get_by_text(re.compile(text)).first.wait_for()


def enter(window: Any, address: str) -> Person:
    """Open the address that was printed, up to the start page."""
    page = window.new_page()
    page.goto(address)
    page.get_by_role("heading", name="Open").wait_for()
    assert "token" not in page.url
    return Person(page)
