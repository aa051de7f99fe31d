"""live_page.py PROGRAM SOURCE - the live page of tessera watch --serve in Chromium, beside a run that is stopped and resumed and a server
that is restarted. Works in the current folder, which holds run.yaml and runs/."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time

program, source = sys.argv[1:3]
sys.path.insert(0, os.path.join(source, "tests", "pages"))
from browser import Browser  # noqa: E402

started = []


def start(*arguments, said=None, before=()):
    p = subprocess.Popen([*before, program, *arguments], stdout=said or subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    started.append(p)
    return p


def serve(*more):
    with open("said", "w") as said:
        p = start("watch", "runs", "--serve", "--token-file", "token", "-n", "0.2", *more, said=said)
    end = time.time() + 30
    while not os.path.getsize("said") and time.time() < end:
        time.sleep(0.05)
    with open("said") as f:
        return p, f.read().split()[1]


def until(page, script, good, what, seconds=60):
    end = time.time() + seconds
    page.ask("Page.bringToFront")  # hidden tabs rest
    while time.time() < end:
        value = page.eval(script)
        if value is not None and good(value):
            return value
        time.sleep(0.2)
    raise SystemExit("live page: %s; it is %r; faults: %s" % (what, value, page.faults))


def round_of(text):
    found = re.search(r"round ([\d,]+)", text)
    return int(found.group(1).replace(",", "")) if found else 0


def try_it(browser):
    server, address = serve()
    train = start("train", "run.yaml", "--out", "runs/a", "--quiet")
    runs = browser.open(address)
    until(runs, "document.getElementById('runs').textContent", lambda t: "running" in t, "the list")
    assert runs.eval("document.getElementById('count').textContent").startswith("1 run, 1 going on")
    runs.eval("document.querySelector('#runs a').focus(); window.row = document.querySelector('#runs tr')")  # rows are made again
    until(runs, "document.querySelector('#runs tr') !== window.row", lambda new: new, "the list goes on")
    assert runs.eval("document.activeElement.matches('#runs a')"), "a keyboard's place in the list is lost"
    assert runs.eval("document.querySelector('#runs a').getAttribute('href')").endswith("/run/a/")
    phone = browser.open(address, width=390, height=844, phone=True)  # names were three letters wide there
    until(phone, "document.querySelector('#runs td')?.getBoundingClientRect().width", lambda w: w > 120, "the list on a phone")
    assert phone.eval("document.documentElement.scrollWidth") <= 390
    phone.close()
    page = browser.open(address + "run/a/")
    bar, facts = "document.getElementById('live').textContent", "document.querySelector('main').textContent.match(/rounds\\s*([\\d,]+)/)?.[1].replace(/,/g, '')"
    first = round_of(until(page, bar, lambda t: round_of(t) > 0, "the line at the top"))
    page.eval("document.querySelector('#live a').focus()")
    # Of the line, which changes every second, a screen reader says the state alone.
    assert page.eval("document.getElementById('live').getAttribute('role')") == "group"
    assert page.eval("document.querySelector('[role=status]').textContent") == "running"
    shown = int(until(page, facts, lambda n: int(n) > 0, "the page"))
    until(page, bar, lambda t: round_of(t) > first, "the line goes on")
    until(page, facts, lambda n: int(n) > shown, "the page goes on")
    assert page.eval("document.activeElement.matches('#live a')"), "a keyboard's place in the line is lost"
    train.send_signal(signal.SIGTERM)
    assert train.wait(60) == 130
    until(page, bar, lambda t: "interrupted" in t and "--resume" in t, "the run's stop")
    assert not page.faults and not runs.faults, (page.faults, runs.faults)
    train = start("train", "run.yaml", "--out", "runs/a", "--quiet", "--resume")
    until(page, bar, lambda t: "running" in t, "the run's resumption")
    before = round_of(page.eval(bar))
    until(page, bar, lambda t: round_of(t) > before, "the run after it")
    train.kill()
    train.wait()
    until(page, bar, lambda t: "interrupted" in t and "process %d was killed;" % train.pid in t, "a run that was killed", 20)
    start("train", "run.yaml", "--out", "runs/a", "--quiet", "--resume")
    until(page, bar, lambda t: "running" in t, "its resumption")
    server.send_signal(signal.SIGTERM)
    assert server.wait(60) == 0
    until(page, bar, lambda t: "away" in t, "the server's end")
    port = re.search(r":(\d+)/", address).group(1)
    again = serve("--port", port)[1]
    assert again == address, (again, address)
    before = round_of(until(page, bar, lambda t: "running" in t, "the server's return", 90))
    until(page, bar, lambda t: round_of(t) > before, "and the run after it")


FETCHED = """Promise.race([fetch(location.pathname).then(r => r.ok), new Promise(r => setTimeout(() => r(false), 4000))])"""


def many_tabs(browser):
    """A browser opens six connections to a server: with six tabs open the sixth no longer got its page. Hidden tabs let theirs go."""
    address = serve()[1]
    pages = [browser.open(address) for _ in range(6)]
    for page in pages:
        until(page, "document.body.dataset.live", lambda v: v == "yes", "a tab")
    assert pages[5].eval(FETCHED) is True, "hidden tabs hold all connections"
    count = "document.getElementById('count').textContent"
    pages[0].eval("document.getElementById('count').textContent = 'old'")
    until(pages[0], count, lambda t: "going on" in t, "a tab that is looked at again")
    for page in pages:
        assert not page.faults, page.faults
        page.close()


MPIRUN = ("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3")
FACT = "[...document.querySelectorAll('.facts div')].find(d => d.querySelector('dt').textContent === '%s')?.querySelector('dd').textContent"


def kinds(browser):
    """A run in three processes, a sweep and a ticket: the list has all of them, and the page of each follows it to its end."""
    address = serve()[1]
    assert start("train", "run.yaml", "--out", "runs/0", "--quiet", "--set", "epochs=1").wait(60) == 0
    has_mpi = shutil.which("mpirun") and b"libmpi" in subprocess.run(["ldd", program], stdout=subprocess.PIPE).stdout
    all_of = [start("sweep", "run.yaml", "--grid", "optim.lr=0.01,0.02,0.03,0.04", "--seeds", "6", "--out", "runs/s", "--quiet", "--set", "epochs=40"),
              start("ticket", "run.yaml", "--out", "runs/t", "--quiet", "--set", "epochs=200", "--set", "ticket.ratios=[0.5]", "--set",
                    "ticket.epochs=200", "--set", "ticket.seconds=0.02")]
    if has_mpi:
        all_of.append(start("train", "run.yaml", "--out", "runs/crew", "--quiet", "--set", "epochs=200", before=MPIRUN))
    runs, sweep, ticket = browser.open(address), None, None
    row = "[...document.querySelectorAll('#runs tr')].find(r => r.querySelector('a').textContent === '%s')?.textContent"
    until(runs, row % "s", lambda t: "sweep" in t, "the sweep in the list")
    until(runs, row % "t", lambda t: "ticket" in t, "the ticket in the list")
    sweep, ticket = browser.open(address + "run/s/"), browser.open(address + "run/t/")
    until(sweep, FACT % "runs done", lambda t: t.endswith("of 24"), "the sweep's page")
    if has_mpi:
        crew = browser.open(address + "run/crew/")
        until(crew, "document.querySelectorAll('#workers tbody tr').length", lambda n: n == 3, "the workers' times")
    for process in all_of:
        assert process.wait(300) == 0, process.args
    until(sweep, FACT % "runs done", lambda t: t == "24 of 24", "the sweep's end")
    until(ticket, FACT % "best ticket", lambda t: t == "ticket-0.5", "the ticket's end")
    for name in ("s", "t", "t/ticket-0.5") + (("crew",) if has_mpi else ()):
        until(runs, row % name, lambda t: "finished" in t, name + " is over")
    # Times are those of a terminal: 15.6 s were 0:15 here and 0:16 there.
    told = subprocess.run([program, "watch", "runs", "--once"], stdout=subprocess.PIPE, check=True).stdout.decode()
    times = dict(re.findall(r"^(\S+): finished.* took ([\d:]+)$", told, re.M))
    assert len(times) >= 3, told
    for name, took in times.items():
        until(runs, row % name, lambda t, took=took: t.endswith("took " + took), name + " took " + took)
    names = runs.eval("[...document.querySelectorAll('#runs a')].map(a => a.textContent)")
    assert names[:2] == ["a", "0"], names  # what goes on is on top
    for page in (runs, sweep, ticket):
        assert not page.faults, page.faults


try:
    with Browser() as b:
        try_it(b)
        kinds(b)
    with Browser() as b:  # with no other tabs
        many_tabs(b)
finally:
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()
