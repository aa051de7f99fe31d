"""pages.py FOLDER: drives the pages that pages.sh has made there, in Chromium, as their reader would.

Each check compares what the page shows with the numbers of the run's own files; a page that says anything on its console, or
asks for anything but its own file, fails."""
import json
import math
import os
import re
import sys
import time
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(__file__))
from browser import Browser, chromium, decode

os.chdir(sys.argv[1])
SHOTS = os.environ.get("TESSERA_SHOTS")  # a folder: every view is kept there to be looked at


def lines(path):
    return [json.loads(line) for line in open(path)]


def evaluations(folder):
    return [line for line in lines(folder + "/metrics.jsonl") if "event" not in line]


def keep(page, name):
    if SHOTS:
        with open(os.path.join(SHOTS, name + ".png"), "wb") as f:
            f.write(page.png(whole=True))


def still(page, name):
    assert not page.faults, (name, page.faults)


# ---- Where things are ---------------------------------------------------------------------------

CHART = """(title => { const t = [...document.querySelectorAll('figure.drawn svg.chart')].find(s =>
    [...s.querySelectorAll('text')].some(x => x.textContent === title));
    if (!t) return null; t.scrollIntoView({block: 'center'}); const b = t.getBoundingClientRect();
    const data = JSON.parse(document.getElementById('data').textContent);
    const i = [...document.querySelectorAll('figure.drawn')].indexOf(t.closest('figure'));
    const p = data.charts[i].find(p => p.title === title) || data.charts[i][0], k = b.width / t.viewBox.baseVal.width;
    return {left: b.left + k * p.box[0], top: b.top + k * p.box[1], width: k * p.box[2], height: k * p.box[3], x: p.x, y: p.y,
            ticks: [...t.querySelectorAll('.ticks text')].map(x => x.textContent)}; })(%s)"""
LOSS = "[...document.querySelectorAll('figure.drawn')].find(f => [...f.querySelectorAll('text')].some(t => t.textContent === 'Loss'))"
TIP = "(t => t.hidden ? null : t.innerText)(document.querySelector('.tip'))"


def chart(page, title):
    found = page.eval(CHART % json.dumps(title))
    assert found, "no chart is called " + title
    return found


def at(box, x):
    """Where x lies on the chart's axis, on the screen."""
    part = (x - box["x"]["low"]) / (box["x"]["high"] - box["x"]["low"])
    return box["left"] + box["width"] * part, box["top"] + box["height"] / 2


def number(text):
    return float(text.replace(",", "").replace("−", "-"))


def near(text, value, part=1e-5):
    return abs(number(text) - value) <= part * abs(value) + 1e-12


def colours(rows):
    """How many pixels differ from the commonest colour."""
    count = {}
    for row in rows:
        for pixel in row:
            count[pixel] = count.get(pixel, 0) + 1
    return sum(count.values()) - max(count.values()), len(count)


def not_blank(page, title):
    box = chart(page, title)
    drawn, kinds = colours(page.pixels((box["left"], box["top"] + page.eval("scrollY"), box["width"], box["height"])))
    assert drawn > 300 and kinds > 3, (title, drawn, kinds)


# ---- A run --------------------------------------------------------------------------------------

def hover(page, folder):
    """The value under the cursor is that of the line of metrics."""
    told, box = evaluations(folder), chart(page, "Loss")
    for line in (told[0], told[len(told) // 2], told[-1]):
        page.move(*at(box, line["epoch"]))
        shown = page.eval(TIP)
        values = re.findall(r"[-−0-9.,×]+", shown.split("training")[1].split("test")[0])
        assert near(values[0], line["loss"]), (shown, line)
        assert near(shown.split("test")[1].strip(), line["test_loss"]), (shown, line)
    # The rule stands at the place that is told, also when the mouse is between two.
    page.move(*at(box, 0.6 * told[1]["epoch"] + 0.4 * told[2]["epoch"]))
    assert page.eval(TIP).startswith("epoch %g" % told[1]["epoch"]), page.eval(TIP)
    drawn = page.eval("document.querySelector('.rule').closest('svg').querySelector('.dot').getAttribute('cx') + ' ' +"
                      " document.querySelector('.rule').getAttribute('d').match(/M([0-9.]+)/)[1]").split()
    assert drawn[0] == drawn[1], drawn
    # All charts over epochs show the same place.
    rules = page.eval("document.querySelectorAll('.cursor .rule').length")
    assert rules >= 2, rules
    # What has ended before this place is not there: a page once told the last accuracy of pretraining beside those of tickets.
    box = chart(page, "How they learned")
    page.move(box["left"] + 0.96 * box["width"], box["top"] + box["height"] / 2)
    assert "ticket-0.5" in page.eval(TIP) and "pretrained" not in page.eval(TIP).split("\n", 1)[1], page.eval(TIP)
    page.move(5, 5)
    assert page.eval(TIP) is None, "the values stay when the cursor has left"


# What a chart shows: numbers and places of its ticks, places of the dots under the cursor, all in its own units.
DRAWN = """(title => { const s = [...document.querySelectorAll('figure.drawn svg.chart')].find(s =>
    [...s.querySelectorAll('text')].some(x => x.textContent === title)), at = (e, n) => Number(e.getAttribute(n));
    return {ticks: [...s.querySelectorAll('.ticks text')].map(t => [t.textContent, at(t, 'x'), at(t, 'y'), t.getAttribute('text-anchor')]),
            dots: [...s.querySelectorAll('.dot')].map(d => [at(d, 'cx'), at(d, 'cy')]), rules: s.querySelectorAll('.rule').length}; })(%s)"""
SMALL = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-"))


def tick_number(text):
    """"0.05", "20,000", "3×10⁻⁴", "10²"."""
    if "10" in text and any(c in SMALL for c in text):
        front, power = text.split("10")
        return (number(front.rstrip("×")) if front else 1) * 10 ** int("".join(SMALL[c] for c in power))
    return number(text)


def reading(ticks, at, log=False):
    """The number that a place has on the axis with these ticks, [(number, place), ...]."""
    turn = math.log10 if log else float
    (a, p), (b, q) = ticks[0], ticks[-1]
    value = turn(a) + (turn(b) - turn(a)) * (at - p) / (q - p)
    return 10 ** value if log else value


def upright(drawn):
    return [(tick_number(t), y - 4) for t, _, y, anchor in drawn["ticks"] if anchor == "end"]


def level(drawn):
    return [(tick_number(t), x) for t, x, _, anchor in drawn["ticks"] if anchor == "middle"]


def cursors(page, folder):
    """The dots of all charts with the same axis lie where their lines of metrics say, read off the ticks; on a log axis, too."""
    told = evaluations(folder)
    line = told[len(told) // 2]
    page.move(*at(chart(page, "Loss"), line["epoch"]))
    loss, right = page.eval(DRAWN % '"Loss"'), page.eval(DRAWN % '"Accuracy"')
    assert loss["rules"] == 1 and right["rules"] == 1, (loss["rules"], right["rules"])
    for drawn, wanted in ((loss, (line["loss"], line["test_loss"])), (right, (100 * line["test_accuracy"],))):
        ticks = upright(drawn)
        span = abs(ticks[-1][0] - ticks[0][0])
        read = [reading(ticks, y) for _, y in drawn["dots"]]
        assert len(read) == len(wanted) and all(abs(a - b) < 0.01 * span for a, b in zip(read, wanted)), (read, wanted)
        assert abs(reading(level(drawn), drawn["dots"][0][0]) - line["epoch"]) < 0.01, drawn["dots"]
    page.eval("[...%s.querySelectorAll('button')].find(b => b.textContent === 'log').click()" % LOSS)
    page.move(*at(chart(page, "Loss"), line["epoch"]))
    drawn = page.eval(DRAWN % '"Loss"')
    for (_, y), wanted in zip(drawn["dots"], (line["loss"], line["test_loss"])):
        assert abs(reading(upright(drawn), y, log=True) / wanted - 1) < 0.02, (upright(drawn), y, wanted)
    page.eval("[...%s.querySelectorAll('button')].find(b => b.textContent === 'all').click()" % LOSS)


def smoothing(page, folder):
    """What is told as smoothed is the running mean of the lines of metrics; a series that is off is not told."""
    told = evaluations(folder)
    choose = "{const s = %s.querySelector('select'); s.value = '%s'; s.dispatchEvent(new Event('change'))}"
    page.eval(choose % (LOSS, "0.6"))
    mean = told[0]["loss"]
    for line in told[1:]:
        mean = 0.6 * mean + 0.4 * line["loss"]
    page.move(*at(chart(page, "Loss"), told[-1]["epoch"]))
    shown = page.eval(TIP)
    assert near(re.search(r"smoothed ([0-9.,]+)", shown).group(1), mean, 1e-3), (shown, mean)
    page.eval("%s.querySelector('.key').dispatchEvent(new MouseEvent('click', {bubbles: true}))" % LOSS)
    page.move(*at(chart(page, "Loss"), told[-2]["epoch"]))
    assert "training" not in page.eval(TIP) and "test" in page.eval(TIP), page.eval(TIP)
    page.eval("[...%s.querySelectorAll('button')].find(b => b.textContent === 'all').click()" % LOSS)


def map_table(page):
    """The numbers of a map of colours as a table, for readers who cannot see it."""
    told = json.load(open("demo/distance.json"))["layers"][0]
    figure = LOSS.replace("'Loss'", json.dumps(told["name"]))
    page.eval("[...%s.querySelectorAll('button')].find(b => b.textContent === 'numbers').click()" % figure)
    shown = page.eval("[...%s.querySelectorAll('.numbers tbody tr')].map(r => [...r.querySelectorAll('td')].map(c => c.textContent))" % figure)
    assert len(shown) == len(told["distance"]) > 1, shown
    for row, wanted in zip(shown, told["distance"]):
        assert all(abs(tick_number(a) - b) <= 1e-3 * abs(b) + 1e-9 for a, b in zip(row, wanted)) and len(row) == len(wanted), (row, wanted)


def finger(b):
    """On a phone a tap shows the values, and they stay when the finger has gone; a tap elsewhere takes them away."""
    page = b.open("demo/report.html", width=390, height=844, phone=True)
    line = evaluations("demo")[3]
    page.tap(*at(chart(page, "Loss"), line["epoch"]))
    assert near(page.eval(TIP).split("test")[1].strip(), line["test_loss"]), page.eval(TIP)
    page.eval("document.querySelector('h1').scrollIntoView()")
    page.eval("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")
    assert page.eval(TIP) is None, "the values stay when the page has scrolled away"
    still(page, "finger")
    page.close()


def saved(b):
    """A picture becomes a file, SVG or PNG, that needs no page: of a chart, the network's drawing, parallel coordinates."""
    os.makedirs("kept", exist_ok=True)
    b.keep_downloads("kept")
    for path, figure in (("demo/report.html", LOSS), ("demo/report.html", "document.querySelector('.graph').closest('figure')"),
                         ("sweep/report.html", "document.querySelector('.parallel').closest('figure')")):
        page = b.open(path, dark=True)
        for ending in ("svg", "png"):
            before = set(os.listdir("kept"))
            page.eval("[...%s.querySelectorAll('.tools button')].find(b => b.textContent === '%s').click()" % (figure, ending))
            end, new = time.time() + 20, []
            while not new and time.time() < end:
                page.eval("1")
                kept = set(os.listdir("kept")) # Chromium holds the name with an empty file while it writes another
                new = [n for n in kept - before if n.endswith("." + ending) and os.path.getsize("kept/" + n)]
            assert new, (path, ending, os.listdir("kept"))
            data = b""
            while not data.rstrip().endswith((b"</svg>", b"IEND\xaeB`\x82")) and time.time() < end:  # the name comes before the bytes
                data = open("kept/" + new[0], "rb").read()
            if ending == "svg":
                root = xml.etree.ElementTree.fromstring(data)
                assert root.tag.endswith("svg") and b"var(" not in data and len(data) > 2000, data[:300]
            else:
                drawn, kinds = colours(decode(data))
                assert drawn > 2000 and kinds > 8, (new, drawn, kinds)
        still(page, "saved")
        page.close()


def zoom(page):
    """Drag shows a range, double click all of it again; the ticks follow."""
    box = chart(page, "Loss")
    y = box["top"] + box["height"] / 2
    page.drag((box["left"] + 0.25 * box["width"], y), (box["left"] + 0.5 * box["width"], y))
    closer = chart(page, "Loss")
    assert closer["ticks"] != box["ticks"], box["ticks"]
    epochs = [number(t) for t in closer["ticks"] if re.fullmatch(r"[0-9.,]+", t)]
    span = box["x"]["high"] - box["x"]["low"]
    low, high = box["x"]["low"] + 0.25 * span, box["x"]["low"] + 0.5 * span
    assert sum(low <= e <= high for e in epochs) >= 2, (epochs, low, high)
    page.eval("document.activeElement.blur()")
    before = level(page.eval(DRAWN % '"Loss"'))
    page.drag((box["left"] + 0.5 * box["width"], y), (box["left"] + 0.6 * box["width"], y), shift=True)
    after = level(page.eval(DRAWN % '"Loss"'))
    plot = page.eval(CHART.replace("return {left", "return {from: p.box[0], wide: p.box[2], left") % '"Loss"')
    moved = [reading(t, plot["from"]) for t in (before, after)]
    wanted = 0.1 * (reading(before, plot["from"] + plot["wide"]) - moved[0])
    assert abs(moved[0] - moved[1] - wanted) < 0.1 * wanted, ("shift and drag move along", moved, wanted)
    page.eval("[...%s.querySelectorAll('button')].find(b => b.textContent === 'all').click()" % LOSS)
    assert chart(page, "Loss")["ticks"] == box["ticks"], "it is not as it was"


def switches(page):
    """A series goes and comes back; a log axis says that it is one; smoothing adds a line; the numbers become a table."""
    find = LOSS
    lines_of = "%s.querySelectorAll('.plot path[fill=none]').length" % find
    before = page.eval(lines_of)
    page.eval("%s.querySelector('.key').dispatchEvent(new MouseEvent('click', {bubbles: true}))" % find)
    assert page.eval(lines_of) == before - 1
    assert page.eval("%s.querySelector('.key').getAttribute('aria-pressed')" % find) == "false"
    page.eval("%s.querySelector('.key').dispatchEvent(new MouseEvent('click', {bubbles: true}))" % find)
    assert page.eval(lines_of) == before
    page.eval("[...%s.querySelectorAll('button')].find(b => b.textContent === 'log').click()" % find)
    assert "loss (log)" in page.eval(find + ".textContent"), "a log axis does not say so"
    page.eval("{const s = %s.querySelector('select'); s.value = '0.9'; s.dispatchEvent(new Event('change'))}" % find)
    assert page.eval(lines_of) == 2 * before, "no smoothed lines"
    page.eval("[...%s.querySelectorAll('button')].find(b => b.textContent === 'numbers').click()" % find)
    assert page.eval("%s.querySelectorAll('.numbers tbody tr').length" % find) > 4


def keyboard(page):
    """Focus, arrows, plus: a reader without a mouse or without a screen gets the same."""
    page.eval("document.querySelector('figure.drawn svg.chart').focus()")
    page.key("ArrowRight")
    first = page.eval("document.querySelector('.voice').textContent")
    page.key("ArrowRight")
    second = page.eval("document.querySelector('.voice').textContent")
    assert first and second and first != second, (first, second)
    # A screen reader leaves the arrows to the chart. Its buttons are one stop of the Tab key; arrows move among them.
    assert page.eval("document.activeElement.getAttribute('role')") == "application"
    bars = page.eval("[...document.querySelectorAll('.tools')].map(t => [t.getAttribute('role'), [...t.children].filter(e => e.tabIndex === 0).length])")
    assert len(bars) > 10 and all(bar == ["toolbar", 1] for bar in bars), bars
    page.eval(LOSS + ".querySelector('.tools button').focus()")
    for key, label in (("ArrowRight", "zoom out"), ("ArrowLeft", "zoom in"), ("ArrowLeft", "save this picture as PNG")):
        page.key(key)
        assert page.eval("document.activeElement.getAttribute('aria-label')") == label, page.eval("document.activeElement.outerHTML")
    ticks = chart(page, "Accuracy")["ticks"]
    page.eval(LOSS.replace("'Loss'", "'Accuracy'") + ".querySelector('svg').focus()")
    page.key("+")
    assert chart(page, "Accuracy")["ticks"] != ticks, "plus does not zoom"
    assert page.eval("document.querySelectorAll('main [tabindex], main a, main summary').length") > 4
    unnamed = page.eval("[...document.querySelectorAll('main svg.chart, main img, main button, main select')].filter(e =>"
                        " !(e.getAttribute('aria-label') || e.getAttribute('alt') || e.textContent)).length")
    assert unnamed == 0, "%d pictures or buttons have no name" % unnamed


def replaced(page, path):
    """A newer page takes over (tessera watch) and keeps what the reader had done."""
    page.eval("[...document.querySelectorAll('main details')].forEach(d => d.open = true); scrollTo(0, 200)")
    text = open(path).read().replace("</h1>", " later</h1>", 1)
    before = chart(page, "Accuracy")["ticks"]
    page.eval("scrollTo(0, 200)")
    assert page.eval("tessera.replace(%s)" % json.dumps(text)) is True
    assert "later" in page.eval("document.querySelector('h1').textContent")
    assert page.eval("document.querySelectorAll('main details:not([open])').length") == 0, "what was open is shut"
    assert page.eval("scrollY") == 200
    assert chart(page, "Accuracy")["ticks"] == before, "the zoom is lost"
    assert page.eval("tessera.replace('<p>no page of ours</p>')") is False


def kept(b):
    """What else a newer page keeps: where the keyboard is, the rows that are shown and their order, values under a mouse that rests.
    A reader with a keyboard was thrown back to the top of a live page every few seconds."""
    focused = "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent"
    page = b.open("demo/report.html")
    text = open("demo/report.html").read()
    page.eval(LOSS + ".querySelectorAll('.tools button')[2].focus()")
    before = page.eval(focused)
    assert page.eval("tessera.replace(%s)" % json.dumps(text)) and page.eval(focused) == before, (before, page.eval(focused))
    page.eval(LOSS + ".querySelector('svg').focus()")
    page.key("ArrowRight")
    page.key("ArrowRight")
    assert page.eval("tessera.replace(%s)" % json.dumps(text)) is True
    page.key("ArrowRight")
    third = sorted(evaluations("demo"), key=lambda e: e["epoch"])[2]
    said = page.eval("document.querySelector('.voice').textContent")
    assert said.startswith("epoch %g:" % third["epoch"]), (said, third)
    page.eval("document.activeElement.blur()")
    page.move(*at(chart(page, "Loss"), third["epoch"]))
    shown = page.eval(TIP)
    assert page.eval("tessera.replace(%s)" % json.dumps(text)) and page.eval(TIP) == shown, (shown, page.eval(TIP))
    still(page, "kept")
    page.load("sweep/report.html")
    text = open("sweep/report.html").read()
    uncheck(page, "optim.schedule", "cosine")
    for _ in range(2):
        page.eval("[...document.querySelectorAll('.named th')].find(h => h.textContent === 'optim.lr').click()")
    order = "[...document.querySelectorAll('.named tbody tr:not(.off)')].map(r => r.dataset.cell).join()"
    before = page.eval(order)
    assert page.eval("tessera.replace(%s)" % json.dumps(text)) and page.eval(order) == before, "order or filter is lost"
    assert page.eval("document.querySelector('.filters output').textContent") == "50 of 100 shown"
    still(page, "kept")
    page.close()


def one_run(b):
    page = b.open("demo/report.html")
    keep(page, "demo-light")
    for title in ("How good, how fast", "Loss", "Accuracy", "Sent between workers"):
        not_blank(page, title)
    hover(page, "demo")
    cursors(page, "demo")
    smoothing(page, "demo")
    zoom(page)
    switches(page)
    keyboard(page)
    map_table(page)
    replaced(page, "demo/report.html")
    still(page, "demo")
    page.close()


def real_targets(b):
    """Of real targets the error has its unit and a curve of its own; what is large has commas; what is no image no sizes of one."""
    page = b.open("prices/report.html")
    told = evaluations("prices")
    fact = page.eval("[...document.querySelectorAll('.facts div')].find(d => d.textContent.startsWith('test error')).querySelector('dd').textContent")
    assert fact == "{:,.1f} dollars".format(told[-1]["test_rmse"]) and "," in fact, (fact, told[-1])
    page.move(*at(chart(page, "Error"), told[1]["epoch"]))
    assert near(page.eval(TIP).split("\n")[-1], told[1]["test_rmse"]), (page.eval(TIP), told[1])
    labels = page.eval("[...document.querySelectorAll('svg.chart text')].map(t => t.textContent)")
    assert "test error, dollars" in labels and "true price, dollars" in labels and "predicted price, dollars" in labels, labels
    text = page.eval("document.querySelector('#the-network').textContent")
    assert " x 1 x 1" not in text and re.search(r"[0-9,]+ operations a sample", text), text[:300]
    still(page, "prices")
    page.close()


# ---- Theory and network -------------------------------------------------------------------------

def theory(b):
    """Every verdict of every round is in the matrix; both sides of an inequality are those of the certificates."""
    page = b.open("certify/report.html")
    all_of_them = [line for line in lines("certify/metrics.jsonl") if line.get("event") == "certificate"]
    for word in ("holds", "fails"):
        expected = sum(row["verdict"] == word for c in all_of_them for row in c["rows"])
        assert expected > 0 and page.eval("document.querySelectorAll('.judgements td.%s').length" % word) == expected, word
    moving = [i for i, row in enumerate(all_of_them[-1]["rows"]) if row["verdict"] and row["where"] and row["required"] and
              len({c["rows"][i]["measured"] for c in all_of_them}) == len(all_of_them)]
    row = all_of_them[-1]["rows"][moving[0]]
    shown = page.eval("""(q => { const f = [...document.querySelectorAll('#theory figure.drawn')].find(f =>
        f.querySelector('figcaption')?.textContent === q), all = JSON.parse(document.getElementById('data').textContent),
        s = all.charts[[...document.querySelectorAll('figure.drawn')].indexOf(f)][0].series;
        return s.map(x => all.columns[x.y]); })(%s)""" % json.dumps(row["quantity"]))
    for side, key in zip(shown, ("measured", "required")):
        told = [c["rows"][moving[0]][key] for c in all_of_them]
        assert all(abs(x - y) <= 1e-6 * abs(y) for x, y in zip(side, told)) and len(side) == len(told), (side, told)
    factors = page.eval("[...document.querySelectorAll('.judgements td.fails small')].map(s => s.textContent)")
    wanted = [row["factor"] for row in all_of_them[0]["rows"] if row["verdict"] == "fails"]
    first = [tick_number(t) for t in page.eval("[...document.querySelectorAll('.judgements tbody tr')].map(r => r.cells[1])"
                                               ".filter(c => c.className === 'fails').map(c => c.querySelector('small').textContent)")]
    assert len(factors) == sum(row["verdict"] == "fails" for c in all_of_them for row in c["rows"]) and len(first) == len(wanted)
    assert all(abs(a / b - 1) < 0.051 for a, b in zip(first, wanted)), (first, wanted)
    # A bound that is not known was "at most", without a number.
    asked = page.eval("[...document.querySelectorAll('.verdicts td:nth-child(4)')].map(c => c.textContent)")
    assert any(asked) and not [text for text in asked if text.strip() in ("at most", "at least")], asked
    not_blank(page, "The spectrum over the rounds")
    still(page, "certify")
    page.close()


def minute(b):
    """What a new reader asks first is answered above the first section: which ticket, how much smaller and faster, what was sent,
    whether the theorem holds."""
    told = json.load(open("demo/ticket.json"))
    rows = {r["network"]: r for r in told["rows"]}
    best, whole = rows[told["best"]["network"]], rows[told["best"]["whole"]]
    facts = ("Object.fromEntries([...document.querySelector('.facts').children].map(d =>"
             " [d.querySelector('dt').textContent, d.querySelector('dd').textContent]))")
    page = b.open("demo/report.html")
    top = page.eval(facts)
    assert top["best ticket"] == best["network"], top
    assert top["its share of the parameters"] == "%.1f %%" % (100 * best["params"] / whole["params"]), top
    assert ("times" in top["its speed"]) == told["best"]["faster"], top
    assert top["sent between workers"].endswith("MB") and near(top["sent between workers"].split()[0], rows["pretrained"]["bytes_total"] / 1e6, 0.05), top
    assert top["does the theorem hold?"] == "no theorem for vgg11", top
    assert page.eval("document.querySelector('.facts').getBoundingClientRect().bottom") < 900, "one has to scroll for it"
    # As much goes out as comes back: one line would hide the other.
    rounds = LOSS.replace("'Loss'", "'Traffic of each round'")
    put = [line for line in lines("demo/metrics.jsonl") if line.get("event") == "put"]
    assert all(line["bytes_up"] == line["bytes_down"] for line in put) and put
    assert page.eval(rounds + ".querySelectorAll('.plot path[fill=none]').length") == 1
    assert "as much back" in page.eval(rounds + ".textContent")
    # The table of a ticket's layers ends with the same numbers: it left out norms, so 9.5 % stood below 9.6 %.
    cells = page.eval("[...[...document.querySelectorAll('#tickets details table')[0].rows].at(-1).cells].map(c => c.textContent)")
    wanted = (cells[0], number(cells[3]), number(cells[4]), cells[6])
    assert wanted == ("all", whole["params"], best["params"], "%.2f" % (best["flops"] / 1e6)), (cells, best)
    assert cells[2] == top["its share of the operations"] + " of the operations", (cells, top)
    page.load("certify/report.html")
    last = [line for line in lines("certify/metrics.jsonl") if line.get("event") == "certificate"][-1]["rows"]
    held, judged = sum(r["verdict"] == "holds" for r in last), sum(bool(r["verdict"]) for r in last)
    failed = sum(r["verdict"] == "fails" for r in last)
    wanted = "no: %d of %d rows fail" % (failed, judged) if failed else "%d of %d rows hold, none fails" % (held, judged)
    assert page.eval(facts)["does the theorem hold?"] == wanted, page.eval(facts)
    page.close()


def network(b):
    """What the page says was kept of each axis is what the ticket's file says."""
    page = b.open("demo/report.html")
    raw = open("demo/ticket-0.5/model.safetensors", "rb").read()
    size = int.from_bytes(raw[:8], "little")
    kept = json.loads(json.loads(raw[8:8 + size])["__metadata__"]["tessera.ticket"])["kept"]
    drawn = dict(page.eval("[...document.querySelectorAll('#the-network tr')].filter(r => r.querySelector('.strip')).map(r =>"
                           " [r.querySelector('.axis').textContent.split(' ')[0], r.querySelector('.strip path').getAttribute('d')])"))
    assert len(drawn) >= 4, drawn
    for axis, path in drawn.items():
        units = [u for a, n in re.findall(r"M(\d+) 0h(\d+)", path) for u in range(int(a), int(a) + int(n))]
        assert units == kept[axis], (axis, units, kept[axis])
    bands = page.eval("[...document.querySelectorAll('.graph rect.band[fill-opacity]')].map(r => [r.dataset.axis, r.getAttribute('fill-opacity'),"
                      " Number(r.getAttribute('width'))])")
    rows = dict(page.eval("[...document.querySelectorAll('#the-network tr[data-axis]')].map(r => [r.dataset.axis, r.cells[0].textContent + ' of ' +"
                          " r.cells[1].textContent])"))
    for (axis, pale, whole), (_, full, part) in zip(bands[::2], bands[1::2]):
        size, of = (int(x) for x in re.search(r"(\d+) of (\d+)$", rows[axis]).groups())
        assert pale != full and abs(part / whole - size / of) < 0.01, (rows[axis], part, whole)
    assert len(bands) > 16 and any(p < 0.6 * w for (_, _, w), (_, _, p) in zip(bands[::2], bands[1::2])), bands
    assert page.eval("document.querySelectorAll('.filters-of img').length") == len(kept["features.0.filters"])
    assert page.eval("[...document.querySelectorAll('img.pixels')].every(i => i.complete && i.naturalWidth > 0)"), "a picture is broken"
    still(page, "network")
    page.close()


def workers(b):
    """The seconds of each rank are the sums of the lines of times; the page says whom the workers waited for."""
    if not os.path.isdir("ranks"):
        print("workers: this build has no MPI")
        return
    page = b.open("ranks/report.html")
    sums = {}
    for line in lines("ranks/metrics.jsonl"):
        for rank in line["ranks"] if line.get("event") == "times" else []:
            sums.setdefault(rank["rank"], [0, 0, 0])
            for k, key in enumerate(("compute", "send", "wait")):
                sums[rank["rank"]][k] += rank[key]
    assert len(sums) == 3, sums
    rows = page.eval("[...document.querySelectorAll('#workers tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
    for row in rows:
        rank = int(row[0].split()[0])
        assert all(abs(float(t) - s) < 0.0051 for t, s in zip(row[1:4], sums[rank])), (row, sums[rank])
    assert "aited" in page.eval("document.querySelector('#workers p').textContent")
    not_blank(page, "Where the time of each rank went")
    still(page, "workers")
    page.close()


# ---- Sweeps and runs side by side ---------------------------------------------------------------

def sorting(b):
    """Amounts of bytes are sorted by their size, whatever their unit: 597 kB stood above 2.33 MB."""
    page = b.open("large-runs.html")
    head = "[...document.querySelectorAll('.named th')].findLast(h => h.textContent === 'traffic')"
    goal = float(page.eval(head + ".previousElementSibling.textContent").split()[1]) / 100
    sent = {name: next(e["bytes_total"] for e in evaluations("runs/" + name) if e["test_accuracy"] >= goal - 1e-9) for name in os.listdir("runs")}
    page.eval(head + ".click()")
    rows = page.eval("(h => [...h.closest('table').tBodies[0].rows].map(r => [r.cells[0].textContent, r.cells[h.cellIndex].textContent]))(%s)" % head)
    assert len({text.split()[1] for _, text in rows}) > 1, rows
    order = [sent[name] for name, _ in rows]
    assert all(a < 1.02 * b for a, b in zip(order, order[1:])), rows  # 61 MB are 60.5 to 61.5
    still(page, "sorting")
    page.close()


def uncheck(page, key, value):
    page.eval("""((key, value) => { const f = [...document.querySelectorAll('.filters fieldset')].find(f => f.textContent.startsWith(key)),
        box = [...f.querySelectorAll('label')].find(l => l.textContent === value).querySelector('input');
        box.checked = false; box.dispatchEvent(new Event('input', {bubbles: true})); })(%s, %s)""" % (json.dumps(key), json.dumps(value)))


def shown(page, what):
    return page.eval("[...document.querySelectorAll(%s)].filter(e => e.getClientRects().length > 0 &&"
                     " getComputedStyle(e).visibility !== 'hidden').length" % json.dumps(what))


def sweep(b):
    """100 cells: each has its line, its row and its square; a value that is switched off takes its cells away everywhere."""
    page = b.open("sweep/report.html")
    for what in (".parallel .line", "tr[data-cell]", "td[data-cell]"):
        assert shown(page, what) == 100, (what, shown(page, what))
    best = page.eval("document.querySelector('tr[data-cell]').dataset.cell")
    assert page.eval("document.querySelector('.line[data-cell=\"%s\"]').classList.contains('best')" % best)
    uncheck(page, "optim.schedule", "cosine")
    for what in (".parallel .line", "tr[data-cell]", "td[data-cell]"):
        assert shown(page, what) == 50, (what, shown(page, what))
    assert page.eval("document.querySelector('.filters output').textContent") == "50 of 100 shown"
    page.eval("document.querySelector('.filters button').click()")
    assert shown(page, "tr[data-cell]") == 100
    heads = page.eval("[...document.querySelectorAll('.named th')].map(h => h.textContent)")
    assert "loss" in heads and "±" not in heads, heads  # of one seed: the columns stood empty
    page.eval("document.querySelector('.named th.n').click()")
    first = page.eval("[...document.querySelectorAll('.named tbody tr')].map(r => parseFloat(r.querySelector('td.n').textContent))")
    assert first == sorted(first), "the table does not sort"
    still(page, "sweep")
    page.close()


def compare(b):
    """Six runs: the means over seeds are those of their metrics; filters take away rows and lines."""
    page = b.open("six.html")
    for rate in ("0.05", "0.2"):
        best = [100 * max(e["test_accuracy"] for e in evaluations("six/%s-%d" % (rate, seed))) for seed in (1, 2, 3)]
        mean = sum(best) / 3
        half = 4.302652729911275 * (sum((x - mean) ** 2 for x in best) / 2 / 3) ** 0.5  # Student's t of two degrees of freedom
        text = page.eval("[...document.querySelectorAll('#over-seeds tbody tr')].find(r => r.cells[0].textContent === '%s-1').cells[2].textContent" % rate)
        told = [float(x) for x in re.findall(r"-?[0-9.]+", text)]
        assert all(abs(x - y) < 0.0051 for x, y in zip(told, (mean, mean - half, mean + half))), (text, mean, half)
    runs = {n: max(e["test_accuracy"] for e in evaluations("six/" + n)) for n in os.listdir("six")}
    top = page.eval("[...document.querySelectorAll('.facts dd')].map(d => d.textContent)")
    ends = page.eval("[...document.querySelectorAll('.parallel text')].map(t => t.textContent)")
    assert "%.2f %%" % (100 * max(runs.values())) in ends and "%.2f %%" % (100 * min(runs.values())) in ends, ends
    assert "-" not in page.eval("[...document.querySelectorAll('#over-seeds td.n')].map(c => c.textContent).join()"), "less than nothing"
    assert runs[top[0]] == max(runs.values()) and top[1] == "%.2f %%" % (100 * max(runs.values())), (top, runs)
    lines_of = "%s.querySelectorAll('.plot path[fill=none]').length" % LOSS.replace("'Loss'", "'Accuracy against time'")
    assert page.eval(lines_of) == 6
    uncheck(page, "optim.lr", "0.2")
    assert shown(page, "tr[data-cell]") == 3 and page.eval(lines_of) == 3
    still(page, "compare")
    keep(page, "compare-light")
    # Without accuracies there is no column of them, and no promise; a key without a value says so; long values stay on the paper.
    page.load("losses.html")
    heads = page.eval("[...document.querySelectorAll('#the-runs th')].map(h => h.textContent)")
    assert "loss" in heads and "best, %" not in heads, heads
    boxes = page.eval("[...document.querySelectorAll('.filters label')].map(l => l.textContent)")
    assert "none" in boxes and all(text.strip() for text in boxes), boxes
    off = page.eval("(s => [...s.querySelectorAll('text')].filter(t => t.getBoundingClientRect().left < s.getBoundingClientRect().left)"
                    ".map(t => t.textContent))(document.querySelector('.parallel'))")
    assert not off, off
    still(page, "losses")
    page.load("six.html", width=390, height=844, phone=True)
    assert page.eval("document.documentElement.scrollWidth") <= 390
    keep(page, "compare-phone")
    page.close()


def many_runs(b):
    """Each of fifty runs has a line of its own: from the eighth on all had the same dashes, and every seventh the same colour."""
    page = b.open("large-runs.html")
    shown = page.eval("[...%s.querySelectorAll('.key path[stroke-dasharray]')].map(p => p.getAttribute('class') + ' ' +"
                      " p.getAttribute('stroke-dasharray'))" % LOSS.replace("'Loss'", "'Accuracy against time'"))
    assert len(shown) == 50 == len(set(shown)), shown
    drawn = "[...%s.querySelectorAll('.plot path[fill=none]')].map(p => p.getAttribute('stroke-dasharray'))" % \
        LOSS.replace("'Loss'", "'Accuracy against time'")
    before = page.eval(drawn)
    page.eval(LOSS.replace("'Loss'", "'Accuracy against time'") + ".querySelector('.key').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    assert page.eval(drawn) == before[1:], "the script draws other dashes"
    still(page, "many runs")
    page.close()


# ---- Views --------------------------------------------------------------------------------------

# Of the cells of a matrix of confusions, the least contrast between a number and its ground (WCAG's ratio).
CONTRAST = """(() => { const page = getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g).map(Number),
    parts = c => { const n = c.match(/[\\d.]+/g).map(Number); return c.startsWith('color(') ? [255 * n[0], 255 * n[1], 255 * n[2], n[3] ?? 1] : [...n, 1]; },
    line = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4,
    light = c => 0.2126 * line(c[0]) + 0.7152 * line(c[1]) + 0.0722 * line(c[2]),
    ratio = cell => { const s = getComputedStyle(cell), g = parts(s.backgroundColor.replace('srgb', '')), ink = light(parts(s.color)),
        ground = light([0, 1, 2].map(i => g[3] * g[i] + (1 - g[3]) * page[i]));
        return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05); };
    return Math.min(99, ...[...document.querySelectorAll('.confusion td.right, .confusion td.wrong')].map(ratio)); })()"""
# The level axes of a page whose labels do not come in even steps, and the charts without a word beside their upright axis.
UNEVEN = """[...document.querySelectorAll('figure.drawn svg.chart')].filter(s => { const all = [...s.querySelectorAll('text')],
    x = [...s.querySelectorAll('.ticks text[text-anchor=middle]')].map(t => Number(t.getAttribute('x'))), steps = x.slice(1).map((v, i) => v - x[i]);
    return !all.some(t => t.textContent.endsWith('(log)') && !t.hasAttribute('transform')) && Math.max(...steps) - Math.min(...steps) > 1; })
    .map(s => s.textContent.trim().slice(0, 80))"""
UNNAMED = """[...document.querySelectorAll('figure.drawn svg.chart')].filter(s => ![...s.querySelectorAll('text[transform]')].length)
    .map(s => s.textContent.trim().slice(0, 80))"""


def readable(page, name):
    least = page.eval(CONTRAST)
    assert least > 3.5, (name, "numbers on colours", least)
    assert not page.eval(UNEVEN), (name, "labels at uneven steps", page.eval(UNEVEN))
    assert not page.eval(UNNAMED), (name, "an axis without a name", page.eval(UNNAMED))


def views(b):
    for name in sorted(n for n in os.listdir(".") if os.path.isfile(n + "/report.html")):
        path = name + "/report.html"
        page = b.open(path, dark=True)
        rows = page.pixels((0, 0, 40, 40))
        assert max(rows[0][0]) < 60, ("dark", name, rows[0][0])
        readable(page, name + " dark")
        page.load(path)
        readable(page, name + " light")
        page.load(path, dark=True)
        keep(page, name + "-dark")
        still(page, name + " dark")
        page.load(path, width=390, height=844, phone=True)
        wide = page.eval("document.documentElement.scrollWidth")
        assert wide <= 390, ("phone", name, wide, page.eval(
            "[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > 392 && !e.closest('.wide, pre, svg'))"
            ".map(e => e.tagName + '.' + e.className).slice(0, 5)"))
        hidden = page.eval("[...document.querySelectorAll('.verdicts td:last-child')].filter(e => e.textContent &&"
                           " e.getBoundingClientRect().width > 0 && e.getBoundingClientRect().right > 390).length")
        assert hidden == 0, ("phone", name, "%d verdicts are off the screen" % hidden)
        last = page.eval("[...document.querySelectorAll('.judgements tbody tr')].map(r => r.cells[r.cells.length - 1].getBoundingClientRect().right)")
        assert all(right <= 390 for right in last), ("phone", name, "the last round's verdicts are off the screen", last[:3])
        keep(page, name + "-phone")
        still(page, name + " phone")
        empty = page.eval("[...document.querySelectorAll('section')].filter(s => s.textContent.trim() === s.querySelector('h2').textContent &&"
                          " !s.querySelector('svg, img')).map(s => s.id)")
        assert not empty, ("sections with nothing in them", name, empty)
        page.load(path, dark=True, media="print", width=794)  # A4
        wide = page.eval("document.documentElement.scrollWidth")
        assert wide <= 794, ("print", name, wide)
        assert min(page.pixels((0, 0, 40, 40))[0][0]) > 240, ("print", name, "is not on white paper")
        assert page.eval("getComputedStyle(document.querySelector('.tools')).display") == "none", name
        right = page.eval("Math.max(...[...document.querySelectorAll('.facts div')].map(d => d.getBoundingClientRect().right))")
        assert right <= 793.5, ("print", name, "the border of a box is off the paper", right)
        assert page.eval("[...document.querySelectorAll('td:first-child')].every(c => getComputedStyle(c).position === 'static')"), name
        page.eval("dispatchEvent(new Event('beforeprint'))")
        assert page.eval("document.querySelectorAll('main details:not([open])').length") == 0, ("print", name, "what is folded stays so")
        page.eval("dispatchEvent(new Event('afterprint'))")
        assert page.eval("document.querySelectorAll('main details[open]').length") == 0, ("print", name)
        assert page.pdf()[:5] == b"%PDF-"
        keep(page, name + "-print")
        still(page, name + " print")
        page.close()


# ---- Large pages --------------------------------------------------------------------------------

def large(b):
    for path in sorted(n for n in os.listdir(".") if n.startswith("large-") and n.endswith(".html")):
        size = os.path.getsize(path)
        page, took = b.open(path), 9.0
        for _ in range(5):  # the least of some: other tests run beside this one
            begin = time.time()
            page.load(path)
            took = min(took, time.time() - begin)
            if took < 2:
                break
        print("%s: %.2f MB, opened in %.2f s" % (path, size / 1e6, took))
        assert size < 5e6 and took < 2, (path, size, took)
        keep(page, path[:-5])
        still(page, path)
        page.close()


if not chromium():
    print("there is no Chromium here")
    sys.exit(77)
with Browser() as browser:
    for part in (one_run, kept, real_targets, finger, saved, theory, minute, network, workers, sorting, sweep, compare, many_runs, views, large):
        begin = time.time()
        part(browser)
        print("%s: %.1f s" % (part.__name__, time.time() - begin))
