"""A page as PDF, printed by a browser of the Chromium family where there is one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from shoal.errors import MissingExtra, ShoalError
from shoal.scratch import scratch_folder

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
SECONDS = 120


def find_browser() -> str:
    """The program that prints.

    Raises
    ------
    MissingExtra
        If there is none.
    """
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        raise MissingExtra(
            "a PDF is printed by Chromium, and neither it nor a browser of its family is installed; install one, or "
            "leave --pdf out and print the page from the browser that you have"
        )
    return found


def print_pdf(page: Path, out: Path) -> None:
    """Print an HTML file, which loads nothing, to a PDF."""
    browser = find_browser()
    with scratch_folder() as scratch:
        made = scratch / "page.pdf"
        command = [browser, "--headless", "--disable-gpu", "--no-sandbox", f"--user-data-dir={scratch / 'profile'}"]
        command += ["--no-pdf-header-footer", f"--print-to-pdf={made}", page.absolute().as_uri()]
        try:
            ended = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ShoalError(
                f"{browser} could not print the page ({type(error).__name__}); the page is {page}"
            ) from None
        if ended.returncode or not made.is_file():
            raise ShoalError(f"{browser} could not print the page (exit code {ended.returncode}); the page is {page}")
        try:
            shutil.copyfile(made, out)
            out.chmod(0o600)
        except OSError as error:
            raise ShoalError(f"the PDF cannot be written to {out}: {error.strerror or error}") from None
