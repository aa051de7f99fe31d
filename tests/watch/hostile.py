"""hostile.py ADDRESS PROCESS FOLDER - the live page of tessera watch --serve, asked by a friend and by strangers.

A friend gets the list, the page, the stream, the state and OpenMetrics. Some 200 strangers (methods, hosts, origins, paths, sizes, bodies,
broken requests, slow and many connections) get nothing: no word of the token, of the runs' names, of any file.
"""
import json
import os
import re
import signal
import socket
import sys
import threading
import time

address, process, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
port = int(re.search(r":(\d+)/", address).group(1))
token = address.rstrip("/").rsplit("/", 1)[1]
root = "/%s/" % token
HOST = "127.0.0.1:%d" % port


def ask(raw, seconds=15):
    """The whole answer to these bytes, up to the end of the connection; b"" when there is none."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as s:
        answer = b""
        try:
            s.sendall(raw)
            while piece := s.recv(65536):
                answer += piece
        except (ConnectionError, TimeoutError):
            pass
        return answer


def get(path, method="GET", host=HOST, more=()):
    return ask("\r\n".join(["%s %s HTTP/1.1" % (method, path), "Host: " + host, *more, "", ""]).encode("latin-1"))


def code(answer):
    found = re.match(rb"HTTP/1\.[01] (\d{3}) ", answer)
    return int(found.group(1)) if found else 0


# ---- The stream, while the run beside us goes on ---------------------------------------------------------------
def stream():
    """Opens the stream; the socket, with the answer's head read."""
    s = socket.create_connection(("127.0.0.1", port), timeout=20)
    s.sendall(("GET %sevents HTTP/1.1\r\nHost: %s\r\n\r\n" % (root, HOST)).encode())
    head = b""
    while b"\r\n\r\n" not in head and (piece := s.recv(1)):
        head += piece
    return s, head


s, head = stream()
assert code(head) == 200 and b"text/event-stream" in head
text, rounds, end = b"", [], time.time() + 60
while len(set(rounds)) < 2 and time.time() < end:  # the run beside us goes on, and is told
    text += s.recv(65536)
    rounds = [int(n) for n in re.findall(rb'"run":"seen".*?"round":(\d+)', text)]
assert len(rounds) >= 2 and rounds[-1] > rounds[0], (rounds, text[-500:])
s.close()

# ---- A friend ------------------------------------------------------------------------------------------------
page = get(root)
assert code(page) == 200 and b"live.js" in page, page[:300]
for header in (b"Content-Security-Policy: default-src 'none'; script-src 'self' 'sha256-", b"X-Content-Type-Options: nosniff",
               b"X-Frame-Options: DENY", b"Referrer-Policy: no-referrer", b"Cache-Control: no-store", b"frame-ancestors 'none'"):
    assert header in page, (header, page[:900])
run = get(root + "run/secret-run/")
assert code(run) == 200 and b"<h1>" in run and b"X-Tessera-Version: " in run and b'data-run="secret-run"' in run, run[:500]
state = get(root + "state", more=["Origin: http://" + HOST])
names = {r["run"]: r for r in json.loads(state.split(b"\r\n\r\n", 1)[1])["runs"]}
assert names["secret-run"]["state"] == "finished", names
assert code(get(root + "live.js", host="localhost:9")) == 200  # ssh -L 9:127.0.0.1:...
metrics = get(root + "metrics")
assert b"application/openmetrics-text; version=1.0.0" in metrics
body = metrics.split(b"\r\n\r\n", 1)[1].decode()
assert body.endswith("# EOF\n") and 'tessera_state{run="secret-run",tessera_state="finished"} 1\n' in body
number = r"[-+]?[0-9.]+(e[-+]?\d+)?"
for line in body.splitlines():
    assert re.fullmatch(r'# (TYPE|HELP|UNIT) tessera_\w+ .+|tessera_\w+\{run="[^"]*"(,tessera_state="\w+")?\} ' + number + "|# EOF", line), line

# ---- Strangers -----------------------------------------------------------------------------------------------
strange = []
for method in "POST PUT DELETE PATCH HEAD OPTIONS TRACE CONNECT PROPFIND MKCOL LOCK get Get GETT X GET\t FOO%20 PRI".split(" "):
    strange.append((get, (root, method)))
    strange.append((get, (root + "state", method)))
    strange.append((get, (root + "run/secret-run/", method)))
for host in ("", "evil.com", "evil.com:%d" % port, "127.0.0.1.evil.com", "127.0.0.1@evil.com", "localhost.evil.com", "[::1]:%d" % port, "0.0.0.0",
             "127.1", "2130706433", "127.0.0.1:", "127.0.0.1:-1", "127.0.0.1:999999", "127.0.0.1:80:80", "LOCALHOST", "local\thost", "\xff\xfe",
             "127.0.0.1/", "127.0.0.1 evil.com", "a" * 5000):
    strange.append((get, (root, "GET", host)))
    strange.append((get, (root + "events", "GET", host)))
for origin in ("null", "", "http://evil.com", "https://" + HOST, "http://localhost:%d" % port, "http://127.0.0.1", "http://%s/" % HOST,
               "http://%s.evil.com" % HOST, "file://", "HTTP://" + HOST, "chrome-extension://abc", "http://" + HOST + " http://evil.com"):
    strange.append((get, (root, "GET", HOST, ["Origin: " + origin])))
    strange.append((get, (root + "metrics", "GET", HOST, ["Origin: " + origin])))
strange.append((get, (root, "GET", HOST, ["Host: evil.com"])))
strange.append((get, (root, "GET", HOST, ["Origin: http://" + HOST, "Origin: http://evil.com"])))
wrong = "0" * 32
for path in ("/", "//", "/index.html", "/%s/" % wrong, "/%s/state" % wrong, "/%s/metrics" % wrong, "/" + token, "/" + token.upper() + "/", "//" + token + "/",
             "/./" + token + "/", "/" + token[:-1] + "/", "/" + token + "0/", "/%" + token, "/events", "/state", "/metrics", "/live.js", "/run/secret-run/",
             "/?token=" + token, "/favicon.ico", "/robots.txt", "/.git/config", "/etc/passwd", "/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
             root + "../../etc/passwd", root + "..%2f..%2fetc%2fpasswd", root + "run/../../../../etc/passwd", root + "run/..%2f..%2f..%2fetc%2fpasswd/",
             root + "run/%2e%2e/%2e%2e/%2e%2e/etc/", root + "run//etc/", root + "run/./", root + "run/secret-run/../secret-run/", root + "run/secret-run",
             root + "run/secret-run/run.yaml", root + "run/secret-run/metrics.jsonl/", root + "run/secret-run%00/", root + "run/%00/", root + "run/%/",
             root + "run/%zz/", root + "run/%c0%ae%c0%ae/", root + "run/" + "%25" * 50 + "/", root + "run/" + "../" * 500, root + "run/" + "a" * 3000 + "/",
             root + "x" * 9000, "/" + "a" * 15000, root + "state/", root + "STATE", root + "metrics/../state", root + "live.js.map", root + "token",
             root + "run/" + folder.replace("/", "%2f") + "/", "http://evil.com" + root, "*", "secret-run", "\\..\\..\\etc\\passwd",
             "/%u002e%u002e/", root + ";/../state", root + "run/secret-run/;x/", root + "run/\x01\x02/"):
    strange.append((get, (path,)))
for more in (["Content-Length: 5", "", "hello"], ["Content-Length: 99999999999"], ["Content-Length: -1"], ["Content-Length: x"],
             ["Transfer-Encoding: chunked", "", "5", "hello", "0", ""], ["Transfer-Encoding: gzip, chunked"], ["Content-Length: 3", "Transfer-Encoding: chunked"],
             ["Upgrade: websocket", "Connection: Upgrade"], ["Expect: 100-continue", "Content-Length: 1000000"], ["X: " + "y" * 17000],
             ["X%d: y" % i for i in range(3000)]):
    strange.append((get, (root, "GET", HOST, more)))
for raw in (b"", b"\0", b"\r\n\r\n", b"GET\r\n\r\n", b"GET /\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"HELO evil\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), b"GET " + root.encode() + b" HTTP/1.0\r\n\r\n", b"GET / HTTP/1.1\nHost\n\n",
            b"GET / HTTP/1.1\r\nHost: " + HOST.encode() + b"\r\n : x\r\n\r\n", b"A" * 20000, b"GET /" + b"\xff" * 500 + b" HTTP/1.1\r\n\r\n",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", bytes(range(256)) * 8, b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            b"GET " + root.encode() + b"state\r\n\r\n", b"\r\n" * 4000, b"GET / HTTP/1.1\r\nHost: " + b"\xc3\x28" + b"\r\n\r\n"):
    strange.append((ask, (raw + b"\r\n\r\n" if raw in (b"", b"\0") else raw, 13)))

secrets = [b"secret-run", b"root:", token.encode(), folder.encode(), b"tessera_", b"optim", b"glyphs"]
answers = {}


def try_one(what):
    call, arguments = what
    try:
        answer = call(*arguments)
    except OSError as e:
        answer = ("error: %s" % e).encode()
    answers[id(what)] = answer


# Eight at a time: those that are not answered at all are cut off after ten seconds.
waiting = list(strange)
def worker():
    while waiting:
        try:
            what = waiting.pop()
        except IndexError:
            return
        try_one(what)


threads = [threading.Thread(target=worker) for _ in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
codes = {}
for what in strange:
    answer = answers[id(what)]
    codes[code(answer)] = codes.get(code(answer), 0) + 1
    assert code(answer) == 0 or 400 <= code(answer) < 600, (what, answer[:300])
    for secret in secrets:
        assert secret not in answer, (what, secret, answer[:600])
print("%d hostile requests: %s" % (len(strange), ", ".join("%d times %s" % (n, c or "no answer") for c, n in sorted(codes.items()))))
assert len(strange) >= 200, len(strange)


# ---- Slow ones, many, and streams that nobody reads -------------------------------------------------------------
def is_well():
    assert code(get(root)) == 200


begin = time.time()
slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
closed = {}
while len(closed) < len(slow) and time.time() - begin < 30:
    for i, s in enumerate(slow):
        if i in closed:
            continue
        try:
            s.sendall(b"G" if time.time() - begin < 0.5 else b"x")
            s.settimeout(0.01)
            if s.recv(10) == b"":
                closed[i] = time.time() - begin
        except TimeoutError:
            pass
        except OSError:
            closed[i] = time.time() - begin
    time.sleep(0.4)
assert len(closed) == len(slow) and max(closed.values()) < 20, closed
is_well()

many = []
for _ in range(200):
    try:
        s = socket.create_connection(("127.0.0.1", port), timeout=5)
        many.append(s)
    except OSError:
        break
time.sleep(1)
held = sum(1 for n in os.listdir("/proc/%d/fd" % process))
assert held < 48 + 40, held
is_well()  # while they are there: two hundred who say nothing once kept friends waiting for 40 s
for s in many:
    s.close()
time.sleep(1)
is_well()

# On a busy machine most of them stand at the door before the server's turn comes: a friend behind them once waited for 20 s (4 s with -n 0.2).
def silent(n):
    return [socket.create_connection(("127.0.0.1", port), timeout=5) for _ in range(n)]


many = silent(40)
time.sleep(0.5)
os.kill(process, signal.SIGSTOP)
many += silent(160)
threading.Timer(1, os.kill, (process, signal.SIGCONT)).start()
begin = time.time()
is_well()
assert time.time() - begin < 1 + 2, time.time() - begin
for s in many:
    s.close()

streams = [stream() for _ in range(30)]
got = [code(head) for _, head in streams]
assert got.count(200) <= 24 and got.count(503) == 30 - got.count(200) and got.count(200) >= 20, got
is_well()
for s, _ in streams:
    s.close()
with open("/proc/%d/status" % process) as f:
    resident = int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1))
assert resident < 150000 or "asan" in os.environ.get("TESSERA_PRESET", "") or resident < 900000, resident
print("resident memory %d kB" % resident)
