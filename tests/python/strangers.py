"""strangers.py PORT [PORT...]: a hundred connections to each port of this host, twenty of each manner, held open until standard input
ends: silent, one byte, garbage, a length as large as can be, a byte every tenth of a second. Says "here" when all have come.
A port that refuses has nobody to disturb: so many are counted at the end."""
import select, socket, sys, time

crowd, refused = [], 0
for port in map(int, sys.argv[1:]):
    for i in range(100):
        try:
            s = socket.create_connection(("127.0.0.1", port), 2)
            s.setblocking(False)
            what = (b"", b"x", bytes(range(256)) * 16, b"\xff" * 64, b"")[i % 5]
            if what:
                s.send(what)
            crowd.append((s, i % 5 == 4))
        except OSError:
            refused += 1
print("here", flush=True)
while not select.select([sys.stdin], [], [], 0.1)[0]:
    for s, slow in crowd:
        try:
            if slow:
                s.send(b"\0")
        except OSError:
            pass
print(f"{len(crowd)} connected, {refused} refused", flush=True)
