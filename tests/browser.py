"""Pages in headless Chromium."""

import subprocess
import tempfile
from pathlib import Path

QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


def open_page(url: str, screenshot: Path, settle_ms: int = 20_000) -> str:
    """The page's document after its scripts have run; a picture of it is left at `screenshot`."""
    with tempfile.TemporaryDirectory() as profile:
        command = ["chromium", *QUIET, f"--user-data-dir={profile}", "--window-size=1600,1000"]
        command += [f"--virtual-time-budget={settle_ms}", f"--screenshot={screenshot}", "--dump-dom", url]
        opened = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return opened.stdout
