"""A real Chromium with a separate profile, controlled by WebDriver (W3C Recommendation, 2018). It can reach only loopback."""

import base64
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from harness import PATIENCE, Failure

# The key of an element in an answer (WebDriver §11).
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
STALE = "stale element reference"
MISSING = ("no such element", STALE)
# The most pages that replace each other without a click.
REPLACEMENTS = 10
# No part of the browser can resolve a name other than this machine's, and the browser sends no requests in the background.
LOOPBACK_ONLY = [
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1, EXCLUDE [::1]",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-features=OptimizationHints,MediaRouter,Translate",
    "--no-pings",
    "--metrics-recording-only",
]
QUIET = ["--no-first-run", "--no-default-browser-check", "--disable-dev-shm-usage", "--password-store=basic"]


def flags():
    """What every Chromium of the tests is started with."""
    # As root, Chromium has no sandbox.
    return [*LOOPBACK_ONLY, *QUIET, *(["--no-sandbox"] if os.geteuid() == 0 else [])]


class Chromium:
    """One chromedriver and its browser; `quit` ends both. The profile stays, so that a test can examine it."""

    def __init__(self, folder, environment=None, headless=True, preferences=None, running=None, trusting=False):
        """`running`: the DevTools port of a browser that another program starts and ends. `trusting`: accept any certificate."""
        self.profile = Path(folder) / "chromium"
        self.profile.mkdir(parents=True, exist_ok=running is not None)
        self.driver = subprocess.Popen(
            [program("chromedriver"), "--port=0"],
            # Crash reports and caches go to $HOME.
            env={**os.environ, "HOME": str(folder), **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self.session = None
        try:
            self.root = f"http://127.0.0.1:{self.port()}"
            options = {
                "binary": program("chromium"),
                "args": [f"--user-data-dir={self.profile}", *flags(), *(["--headless=new"] if headless else [])],
                "prefs": preferences or {},
            }
            self.begin({"debuggerAddress": f"127.0.0.1:{running}"} if running else options, trusting)
        except Exception:
            self.quit()
            raise

    def port(self):
        for line in self.driver.stdout:
            if match := re.search(r"started successfully on port (\d+)", line):
                return int(match[1])
        raise Failure("chromedriver did not start")

    def begin(self, options, trusting):
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "acceptInsecureCerts": trusting}
        answer = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = f"/session/{answer['sessionId']}"
        # The driver itself waits until an element appears. So no loop is needed here.
        self.call("POST", "/timeouts", {"implicit": PATIENCE * 1000, "pageLoad": PATIENCE * 1000})

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.root + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE * 2) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise WebDriverError(value["error"], value["message"].splitlines()[0]) from None

    def call(self, method, path, body=None):
        return self.ask(method, self.session + path, body)

    # -- What a person does

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def find(self, selector):
        """Waits for an element, and returns it. It is named by a CSS selector, or by an XPath that begins with //."""
        using = "xpath" if selector.startswith("//") else "css selector"
        try:
            return self.call("POST", "/element", {"using": using, "value": selector})[ELEMENT]
        except WebDriverError as error:
            if error.kind not in MISSING:
                raise
            raise Failure(f"'{selector}' is not on the page {self.url()}: {self.text()[:400]!r}") from None

    def at(self, selector, method, what, body=None):
        """Does something with the element. If its page is just being replaced, it looks for the element on the next page."""
        for _ in range(REPLACEMENTS):
            try:
                return self.call(method, f"/element/{self.find(selector)}/{what}", body)
            except WebDriverError as error:
                if error.kind != STALE:
                    raise
        raise Failure(f"'{selector}' does not stay on a page: {self.url()}")

    def type(self, selector, text):
        self.at(selector, "POST", "value", {"text": text})

    def click(self, selector):
        self.at(selector, "POST", "click", {})

    def leave(self, selector):
        """Clicks an element that leads to another page. If a script redraws the page and the click is lost, it clicks once more."""
        here = self.url()
        for _ in range(REPLACEMENTS):
            self.click(selector)
            if self.has_left(here):
                return
        raise Failure(f"'{selector}' does not lead away from {here}: {self.text()[:400]!r}")

    def has_left(self, address):
        end = time.monotonic() + PATIENCE / 10
        while self.url() == address:
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    # -- What they see

    def url(self):
        return self.call("GET", "/url")

    def text(self, selector="body"):
        return self.at(selector, "GET", "text")

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def settled(self, script, count):
        """Waits until the list that `script` returns has this many members, and returns it."""
        end = time.monotonic() + PATIENCE
        while len(value := self.run(script)) < count:
            if time.monotonic() > end:
                raise Failure(f"'{script}' gives {value!r}, and no more")
            time.sleep(0.05)
        return value

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def look(self, width, scheme):
        """Sets the width of the window, and a light or dark desktop."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=700, deviceScaleFactor=1, mobile=False)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.devtools("Emulation.setEmulatedMedia", features=[feature])

    def screenshot(self, path):
        Path(path).write_bytes(base64.b64decode(self.call("GET", "/screenshot")))

    def new_tab(self):
        handle = self.call("POST", "/window/new", {"type": "tab"})["handle"]
        self.call("POST", "/window", {"handle": handle})

    # -- The end

    def close_window(self):
        """Closes the window as a person does. A browser that somebody else started ends with its last window, and so does the session."""
        self.call("DELETE", "/window")
        self.session = None

    def quit(self):
        if self.session:
            session, self.session = self.session, None
            self.ask("DELETE", session)
        try:
            os.killpg(self.driver.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
        self.driver.wait(PATIENCE)
        self.driver.stdout.close()

    def history(self):
        """Every address in the profile's history. Call it after `quit`, because the browser writes the history when it ends."""
        with sqlite3.connect(self.profile / "Default" / "History") as database:
            return [url for (url,) in database.execute("SELECT url FROM urls")]


class WebDriverError(Exception):
    def __init__(self, kind, message):
        super().__init__(f"{kind}: {message}")
        self.kind = kind


def program(name):
    path = shutil.which(name)
    if path is None:
        raise Failure(f"there is no {name}")
    return path
