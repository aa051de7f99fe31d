"""ports.py PID...: the TCP ports on which these processes listen, one line each: PID ADDRESS PORT.
ports.py --to PORT PID: ends with 0 when that process is connected to the port."""
import os, re, socket, struct, sys

LISTENS, CONNECTED = "0A", "01"


def sockets():
    """What is known of each socket, by its inode: state, own address and port, the other's port."""
    for name in ("tcp", "tcp6"):
        for line in open(f"/proc/net/{name}").read().splitlines()[1:]:
            f = line.split()
            host, port = f[1].split(":")
            where = socket.inet_ntoa(struct.pack("<I", int(host, 16))) if name == "tcp" else "[v6]"
            yield f[9], (f[3], where, int(port, 16), int(f[2].split(":")[1], 16))


def of(pid, known):
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            m = re.match(r"socket:\[(\d+)\]", os.readlink(f"/proc/{pid}/fd/{fd}"))
            if m and m[1] in known:
                yield known[m[1]]
    except OSError:
        return


known = dict(sockets())
if sys.argv[1] == "--to":
    sys.exit(not any(s[0] == CONNECTED and s[3] == int(sys.argv[2]) for s in of(sys.argv[3], known)))
for pid in sys.argv[1:]:
    for state, where, port, _ in of(pid, known):
        if state == LISTENS:
            print(pid, where, port)
