"""shot.py PAGE OUT.png [WIDTH HEIGHT]: the top of a page, with the values under a cursor over its first chart.

docs/pictures/page.png is that of the demo: python3 tests/pages/shot.py runs/demo/report.html docs/pictures/page.png
"""
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from browser import Browser

page_path, out = sys.argv[1:3]
width, height = (int(x) for x in sys.argv[3:5]) if len(sys.argv) > 4 else (1000, 1000)
with Browser() as b:
    page = b.open(page_path, width=width, height=height)
    page.eval("document.head.append(Object.assign(document.createElement('style'), {textContent: '.tools { opacity: 0 !important }'}))")
    box = page.eval("(b => [b.left, b.top, b.width, b.height])(document.querySelector('figure.drawn svg').getBoundingClientRect())")
    page.move(box[0] + 0.18 * box[2], box[1] + 0.33 * box[3])
    with open(out, "wb") as f:
        f.write(page.png((0, 0, width, height)))
