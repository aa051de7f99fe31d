"""terminal.py PROGRAM RUNS RUN-FILE - tessera watch on a pseudo-terminal, read by a terminal emulator (pyte, Debian's).

Sizes from tiny to huge, resizing, keys, Ctrl-C, Ctrl-Z, no colour, no Unicode; the terminal is left as it was. A run (RUNS/seen) is watched
while it trains.
"""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

import pyte

program, runs, run_file = sys.argv[1:4]
BRAILLE = re.compile("[\u2801-\u28ff]")


class Terminal:
    def __init__(self, folder, width=80, height=24, **environment):
        self.master, self.slave = pty.openpty()
        self.screen = pyte.Screen(width, height)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.size(width, height)
        self.before = termios.tcgetattr(self.slave)
        env = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **environment}
        self.process = subprocess.Popen([program, "watch", folder, "-n", "0.2"], stdin=self.slave, stdout=self.slave,
                                        stderr=subprocess.PIPE, env=env, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def size(self, width, height):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def resize(self, width, height):
        self.screen.resize(height, width)
        self.size(width, height)  # the kernel sends SIGWINCH

    def read(self, seconds=0.1):
        while select.select([self.master], [], [], seconds)[0]:
            try:
                piece = os.read(self.master, 65536)
            except OSError:
                return
            self.raw += piece
            self.stream.feed(piece)

    def text(self):
        return "\n".join(self.screen.display)

    def until(self, good, what, seconds=20):
        end = time.time() + seconds
        while time.time() < end:
            self.read()
            if good(self.text()):
                return self.text()
        raise SystemExit("terminal: %s; the screen is\n%s" % (what, self.text()))

    def press(self, keys):
        os.write(self.master, keys)

    def end(self, keys=b"q", code=0):
        self.press(keys)
        end = time.time() + 20
        while self.process.poll() is None and time.time() < end:
            self.read(0.05)
        self.read(0.05)
        said = self.process.stderr.read().decode()
        assert self.process.poll() == code, (self.process.poll(), said)
        assert not said, said
        assert termios.tcgetattr(self.slave) == self.before, "the terminal is not as it was"
        assert self.raw.rstrip().endswith(b"\x1b[?1049l"), self.raw[-40:]
        assert b"\x1b[?25h" in self.raw, "the cursor is gone"
        os.close(self.master)
        os.close(self.slave)


# ---- Every size shows a whole screen, its last line the keys ----------------------------------------------
t = Terminal(os.path.join(runs, "a"))
for width, height in ((80, 24), (200, 60), (100, 30), (40, 12), (20, 4), (61, 17), (80, 24)):
    t.resize(width, height)
    t.until(lambda text: "q leave" in t.screen.display[height - 1] and text.startswith("runs/a  fini"), "%d x %d" % (width, height))
    if height >= 12:
        assert BRAILLE.search(t.text()), t.text()
        assert "loss" in t.text()
    if width >= 60 and height >= 17:
        assert "test accuracy" in t.text() and "round 20 of 20" in t.text(), t.text()
    if width == 40:
        assert "accuracy" in t.screen.display[2], t.text()  # it was cut off
    if width >= 80:
        assert t.screen.display[0].rstrip().endswith(":00") or "took 0:" in t.screen.display[0], t.screen.display[0]
assert b"\x1b[36m" in t.raw
t.end(b"q")

# ---- Ctrl-C, no colour, no Unicode, a dumb one --------------------------------------------------------------
t = Terminal(os.path.join(runs, "a"), NO_COLOR="1", LC_ALL="C")
t.until(lambda text: "*" in text and "q leave" in text, "in ASCII")
assert not BRAILLE.search(t.text()) and b"\x1b[36m" not in t.raw
t.end(b"\x03")
dumb = subprocess.run([program, "watch", runs + "/a"], env={**os.environ, "TERM": "dumb"}, capture_output=True, text=True, check=True)
assert dumb.stdout.startswith("runs/a: finished") and "\x1b" not in dumb.stdout

# ---- The list: keys choose and open; Ctrl-Z gives the terminal back ---------------------------------------------
t = Terminal(runs, 100, 40)
first = t.until(lambda text: "9 runs" in text and "diverged" in text and "interrupted" in text, "the list")
assert "s (sweep)" in first and "t (ticket)" in first, first
for _ in range(12):
    t.press(b"\x1b[A")
t.press(b"\r")
t.until(lambda text: text.startswith("a  finished") and "esc list" in text, "enter opens the first")
t.press(b"\x1b[B\x1b[B"[:3])
t.until(lambda text: text.startswith("b  finished"), "down goes on to the next")
# A run that begins before it in the list does not take its place on the screen: once the number of the line was kept.
shutil.copytree(os.path.join(runs, "a"), os.path.join(runs, "a-later"))
end = time.time() + 5  # folders are looked for every three seconds
while time.time() < end:
    t.read(0.1)
    assert t.text().startswith("b  finished"), t.text()
t.press(b"\x1b")
t.until(lambda text: "10 runs" in text, "escape goes back")
t.press(b"\r")
t.until(lambda text: text.startswith("b  finished"), "and its line is still the chosen one")
# When it goes, the list is shown, and no other run in its place.
shutil.rmtree(os.path.join(runs, "a-later"))
os.rename(os.path.join(runs, "b"), os.path.join(runs, ".b"))
t.until(lambda text: "8 runs" in text, "its run is gone")
os.rename(os.path.join(runs, ".b"), os.path.join(runs, "b"))
t.until(lambda text: "9 runs" in text, "and comes again")
t.press(b"\x1a")
end = time.time() + 20
while time.time() < end and "T" not in open("/proc/%d/stat" % t.process.pid).read().rsplit(")", 1)[1].split()[0]:
    t.read(0.05)
t.read(0.2)
assert t.raw.endswith(b"\x1b[?1049l") and termios.tcgetattr(t.slave) == t.before, "stopped, it keeps the terminal"
os.kill(t.process.pid, signal.SIGCONT)
t.until(lambda text: "9 runs" in text, "and goes on")
t.end()

# ---- A run that goes on: found when it begins, followed, left alone --------------------------------------------
t = Terminal(runs, 120, 40)
t.until(lambda text: "9 runs" in text, "before it begins")
train = subprocess.Popen([program, "train", run_file, "--out", runs + "/seen", "--quiet", "--set", "epochs=150"],
                         stdout=subprocess.DEVNULL)
t.until(lambda text: "10 runs" in text, "a run that has begun")
t.until(lambda text: re.search(r"seen +finished", text), "its end", 120)
assert train.wait() == 0
t.end()

# ---- The terminal goes away: so does it ------------------------------------------------------------------------
t = Terminal(runs, 100, 30)
t.until(lambda text: "runs" in text, "before the terminal goes")
os.close(t.slave)
os.close(t.master)
t.process.wait(20)
