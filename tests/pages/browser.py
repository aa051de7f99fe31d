"""browser.py - a page in Chromium, asked and driven over a pipe (--remote-debugging-pipe): no package but Chromium's own.

    with Browser() as b:
        page = b.open("report.html", width=1100, height=900)
        page.eval("document.title")
        page.move(300, 200); page.drag((300, 200), (400, 200)); page.key("ArrowRight")
        rows = page.pixels((x, y, width, height))        lists of (r, g, b)
        page.faults                                      errors of its console, requests beyond the file
"""
import base64
import json
import os
import shutil
import struct
import subprocess
import tempfile
import zlib

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--no-first-run", "--hide-scrollbars", "--disable-dev-shm-usage", "--remote-debugging-pipe"]


def chromium():
    """The browser's path, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    def __init__(self):
        self.home = tempfile.mkdtemp()
        to_child, self.out = os.pipe()
        self.inp, from_child = os.pipe()
        # Chromium reads from descriptor 3 and writes to 4.
        command = 'exec 3<&%d 4>&%d; exec "$@"' % (to_child, from_child)
        self.process = subprocess.Popen(
            ["bash", "-c", command, "bash", chromium(), *FLAGS, "--user-data-dir=" + self.home], pass_fds=(to_child, from_child),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.buffer, self.count, self.pages = b"", 0, {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.ask("Browser.close")
        except (EOFError, OSError):
            pass
        self.process.wait(30)
        os.close(self.out)
        os.close(self.inp)
        shutil.rmtree(self.home, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.inp, 1 << 20)
            if not piece:
                raise EOFError("Chromium has ended")
            self.buffer += piece
        line, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(line)

    def ask(self, method, session=None, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]
            page = self.pages.get(answer.get("sessionId"))
            if page:
                page.heard(answer)

    def keep_downloads(self, folder):
        self.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=os.path.abspath(folder))

    def open(self, path, **how):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, session, target)
        page.load(path, **how)
        return page


class Page:
    def __init__(self, browser, session, target):
        self.browser, self.session, self.target = browser, session, target
        self.faults, self.loaded = [], False

    def ask(self, method, **params):
        return self.browser.ask(method, self.session, **params)

    def heard(self, event):
        method, p = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.faults.append("exception: " + json.dumps(p["exceptionDetails"])[:600])
        elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
            self.faults.append("console: " + json.dumps(p["args"])[:600])
        elif method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
            self.faults.append("log: " + json.dumps(p["entry"])[:600])
        elif method == "Network.requestWillBeSent":
            url = p["request"]["url"]
            own = self.url.startswith("http://") and url.startswith("/".join(self.url.split("/")[:3]) + "/")  # of a live page
            if url != self.url and not url.startswith("data:") and not own:
                self.faults.append("request: " + url[:300])
        elif method == "Page.loadEventFired":
            self.loaded = True

    def load(self, path, width=1100, height=900, dark=False, phone=False, media=""):
        self.url = path if path.startswith("http://") else "file://" + os.path.abspath(path)
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(domain + ".enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        self.ask("Emulation.setEmulatedMedia", media=media,
                 features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                           {"name": "hover", "value": "none" if phone else "hover"}])
        self.loaded = False
        self.ask("Page.navigate", url=self.url)
        while not self.loaded:
            self.heard(self.browser.receive())

    def eval(self, script):
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError("%s: %s" % (script[:200], json.dumps(answer["exceptionDetails"])[:800]))
        return answer["result"].get("value")

    def mouse(self, kind, x, y, shift=False, down=False):
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left" if kind != "mouseMoved" or down else "none",
                 buttons=1 if down else 0, clickCount=1 if kind != "mouseMoved" else 0, modifiers=8 if shift else 0)

    def move(self, x, y):
        self.mouse("mouseMoved", x, y)

    def click(self, x, y, shift=False):
        self.mouse("mousePressed", x, y, shift, True)
        self.mouse("mouseReleased", x, y, shift)

    def drag(self, a, b, shift=False):
        self.move(*a)
        self.mouse("mousePressed", *a, shift, True)
        for i in range(1, 6):
            self.mouse("mouseMoved", a[0] + (b[0] - a[0]) * i / 5, a[1] + (b[1] - a[1]) * i / 5, shift, True)
        self.mouse("mouseReleased", *b, shift)

    def tap(self, x, y):
        """A finger: down and up again."""
        self.ask("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=1)
        self.ask("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.ask("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def key(self, key, shift=False):
        text = key if len(key) == 1 else None
        for kind in ("keyDown", "keyUp"):
            params = dict(type=kind, key=key, modifiers=8 if shift else 0)
            if text and kind == "keyDown":
                params["text"] = text
            self.ask("Input.dispatchKeyEvent", **params)

    def png(self, clip=None, whole=False):
        params = {"format": "png", "captureBeyondViewport": whole}
        if clip:
            params["clip"] = dict(zip(("x", "y", "width", "height"), clip), scale=1)
        return base64.b64decode(self.ask("Page.captureScreenshot", **params)["data"])

    def pixels(self, clip=None):
        return decode(self.png(clip))

    def pdf(self):
        return base64.b64decode(self.ask("Page.printToPDF")["data"])

    def close(self):
        self.browser.ask("Target.closeTarget", targetId=self.target)
        del self.browser.pages[self.session]


def decode(png):
    """Rows of (r, g, b) of a PNG of eight bits a channel."""
    at, data, channels = 8, b"", 3
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert depth == 8 and colour in (2, 6), (depth, colour)
            channels = 3 if colour == 2 else 4
        elif kind == b"IDAT":
            data += body
        at += 12 + size
    raw, step, rows = zlib.decompress(data), width * channels, []
    before = bytearray(step)
    for y in range(height):
        kind, line = raw[y * (step + 1)], bytearray(raw[y * (step + 1) + 1:(y + 1) * (step + 1)])
        for i in range(step):
            a = line[i - channels] if i >= channels else 0
            b, c = before[i], before[i - channels] if i >= channels else 0
            if kind == 1:
                line[i] = (line[i] + a) & 255
            elif kind == 2:
                line[i] = (line[i] + b) & 255
            elif kind == 3:
                line[i] = (line[i] + (a + b) // 2) & 255
            elif kind == 4:
                p = a + b - c
                near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
                line[i] = (line[i] + near) & 255
        rows.append([tuple(line[i:i + 3]) for i in range(0, step, channels)])
        before = line
    return rows
