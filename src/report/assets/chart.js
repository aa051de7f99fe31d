/* chart.js - a chart that answers: values under the cursor, zoom and pan, series on and off, a log
 * axis, smoothing, its numbers as a table. All charts with the same x axis share one cursor. Until
 * somebody asks for something, the picture stays the one that the program drew. */

const charts = [];
let tip = null; // the box with values
let voice = null; // what a screen reader says
let pointer = null; // where the mouse was when it showed values
let byFinger = false; // the values are there because of a finger: they stay until it scrolls or taps elsewhere

const inside = (panel, a, b, slack) => {
    const [left, top, width, height] = panel.box;
    return a >= left - slack && a <= left + width + slack && b >= top - slack && b <= top + height + slack;
};

/* ---- The numbers ---------------------------------------------------------------------------- */

const readPanel = (about, group, columns) => {
    const column = (number) => (number === undefined ? null : columns[number]);
    const series = about.series.map((s) => {
        const ys = column(s.y) || [];
        return { ...s, ys, xs: column(s.x) || ys.map((_, i) => i), lows: column(s.low), highs: column(s.high), off: false };
    });
    const map = about.map && { ...about.map, values: column(about.map.value), xs: column(about.map.x), ys: column(about.map.y) };
    return { ...about, map, series, group, smooth: 0, log: about.y.log, zoom: null, axes: { x: about.x, y: about.y } };
};

const isCloud = (panel) => panel.series.every((s) => s.marks === "points" || s.xs.length < 2);

/* What every series has at x, or next to it; of a cloud of points the one nearest to the cursor. */
const nearest = (series, x, axis) => {
    let best = -1;
    let least = Infinity;
    const at = place(axis, x);
    for (let i = 0; i < series.xs.length; i++) {
        const distance = Math.abs(place(axis, series.xs[i]) - at);
        if (distance < least && series.ys[i] !== null) {
            least = distance;
            best = i;
        }
    }
    return best;
};

/* The place whose values are told: the nearest that a series has. The rule stands there, not between two. */
const snap = (panel, x) => {
    const axis = panel.axes.x;
    let best = x;
    let least = Infinity;
    for (const series of panel.series) {
        const i = series.off || isBeyond(series, x, axis) ? -1 : nearest(series, x, axis);
        const far = i < 0 ? Infinity : Math.abs(place(axis, series.xs[i]) - place(axis, x));
        if (far < least) {
            least = far;
            best = series.xs[i];
        }
    }
    return best;
};

/* Has the series ended before x, or not yet begun? */
const isBeyond = (series, x, axis) => {
    const ends = [series.xs[0], series.xs[series.xs.length - 1]].map((end) => place(axis, end));
    const at = place(axis, x);
    return at < Math.min(...ends) - 0.02 || at > Math.max(...ends) + 0.02;
};

const nearestPoint = (panel, a, b) => {
    const [left, top, width, height] = panel.box;
    let found = null;
    for (const series of panel.series)
        for (let i = 0; !series.off && i < series.xs.length; i++) {
            const dx = left + width * place(panel.axes.x, series.xs[i]) - a;
            const dy = top + height * (1 - place(panel.axes.y, series.ys[i])) - b;
            const far = dx * dx + dy * dy;
            if (!isNaN(far) && (!found || far < found.far)) found = { series, i, far };
        }
    return found;
};

/* ---- Axes ----------------------------------------------------------------------------------- */

const lastLabel = (panel) => [...panel.group.querySelectorAll("text")].find((t) => t.textContent.replace(/ \(log\)$/, "") === (panel.y.label || "").replace(/ \(log\)$/, ""));

/* The axes that the reader's wishes give; those of the picture while he has none. */
const setAxes = (panel) => {
    const plain = !panel.zoom && panel.log === panel.y.log && !panel.series.some((s) => s.off);
    const x = panel.zoom ? { ...panel.x, ...panel.zoom } : panel.x;
    let y = panel.y;
    if (!plain && !(panel.fixed && panel.log === panel.y.log)) {
        const seen = [];
        for (const s of panel.series)
            for (let i = 0; !s.off && i < s.ys.length; i++) {
                const at = panel.categories ? 0.5 : place(x, s.xs[i]);
                if (at < 0 || at > 1 || isNaN(at)) continue;
                seen.push(s.ys[i]);
                if (s.lows) seen.push(s.lows[i], s.highs[i]);
            }
        if (panel.categories && !panel.log) seen.push(0);
        y = axisOver(seen, panel.log, 0.05);
        if (panel.categories && y.low < 0 && Math.min(...seen) === 0) y.low = 0;
    }
    panel.axes = { x, y };
};

const redraw = (chart) => {
    for (const panel of chart.panels) {
        if (panel.map) continue;
        setAxes(panel);
        drawPanel(panel);
        const label = lastLabel(panel);
        const words = (panel.y.label || "").replace(/ \(log\)$/, "");
        if (label) label.textContent = words + (panel.log ? " (log)" : "");
    }
    chart.keys.forEach((key) => key.paint());
    chart.changed = true;
    if (chart.table) fillTable(chart);
};

/* ---- The cursor ----------------------------------------------------------------------------- */

const clearCursor = () => {
    for (const chart of charts) chart.overlay.replaceChildren();
    tip.hidden = true;
    byFinger = false;
};

const sameAxis = (a, b) => !a.map && !b.map && !a.categories && !b.categories && a.x.label === b.x.label && a.x.log === b.x.log;

const dot = (chart, panel, series, i) => {
    const [left, top, width, height] = panel.box;
    const part = place(panel.axes.x, panel.categories ? i : series.xs[i]);
    const a = left + width * part;
    const b = top + height * (1 - place(panel.axes.y, series.ys[i]));
    if (isNaN(a) || isNaN(b) || part < -0.001 || part > 1.001) return;
    make(chart.overlay, "circle", { class: "dot f" + ((series.colour % COLOURS) + 1), cx: px(a), cy: px(b), r: 4.5 });
};

const rule = (chart, panel, x) => {
    const [left, top, width, height] = panel.box;
    const part = place(panel.axes.x, x);
    if (part >= 0 && part <= 1) make(chart.overlay, "path", { class: "rule", d: `M${px(left + width * part)} ${top}v${height}` });
};

/* One line of the box: which series, its value, and the band around it. */
const valueText = (series, i, panel) => {
    let text = numberText(series.ys[i]);
    if (series.lows && series.lows[i] !== null) text += ` (${numberText(series.lows[i], 4)} to ${numberText(series.highs[i], 4)})`;
    if (panel.smooth > 0 && series.marks !== "points") text += `, smoothed ${numberText(smoothed(series.ys, panel.smooth)[i], 4)}`;
    return text;
};

const showTip = (head, rows, clientX, clientY) => {
    tip.replaceChildren();
    make(tip, "div", { class: "head" }, head);
    for (const row of rows) {
        const line = make(tip, "div", { class: "row" });
        if (row.colour !== undefined) make(line, "i", { class: "swatch c" + ((row.colour % COLOURS) + 1) });
        make(line, "span", {}, row.name || "");
        make(line, "b", {}, row.value);
    }
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const right = clientX + 16 + box.width > innerWidth - 8;
    tip.style.left = Math.max(8, right ? clientX - box.width - 16 : clientX + 16) + "px";
    tip.style.top = Math.max(8, Math.min(clientY + 14, innerHeight - box.height - 8)) + "px";
};

const MOST_ROWS = 12;

const cursorAt = (chart, panel, x, clientX, clientY, only) => {
    const rows = [];
    let head = x;
    for (const other of charts)
        for (const p of other.panels) {
            if (p !== panel && (only || !sameAxis(p, panel))) continue;
            if (!p.categories && !only) rule(other, p, x);
            for (const series of p.series) {
                if (series.off || (only && series !== only.series)) continue;
                const i = only ? only.i : p.categories ? x : nearest(series, x, p.axes.x);
                if (i < 0 || i >= series.ys.length || (!only && !p.categories && isBeyond(series, x, p.axes.x))) continue;
                dot(other, p, series, i);
                if (p !== panel) continue;
                if (!p.categories) head = series.xs[i];
                rows.push({ colour: series.colour, name: series.name, value: valueText(series, i, p) });
            }
        }
    const label = (panel.x.label || "").replace(/ \(log\)$/, "");
    const words = panel.categories ? panel.categories[x] : `${label} ${numberText(head)}`.trim();
    const more = rows.length - MOST_ROWS;
    if (more > 0) rows.splice(MOST_ROWS, more, { name: `and ${more} more`, value: "" });
    showTip(words, rows, clientX, clientY);
    return words + ": " + rows.map((row) => (row.name ? row.name + " " : "") + row.value).join(", ");
};

const mapCursor = (panel, a, b, clientX, clientY) => {
    const [left, top, width, height] = panel.box;
    const { rows, columns, values, xs, ys, label } = panel.map;
    const j = Math.min(columns - 1, Math.max(0, Math.floor(((a - left) / width) * columns)));
    const i = Math.min(rows - 1, Math.max(0, Math.floor(((b - top) / height) * rows)));
    const head = `${panel.x.label || "column"} ${numberText(xs ? xs[j] : j)}, ${panel.y.label || "row"} ${numberText(ys ? ys[i] : i)}`;
    showTip(head, values ? [{ name: label, value: numberText(values[i * columns + j]) }] : [{ name: "too many cells for values", value: "" }], clientX, clientY);
};

const pointAt = (chart, event) => {
    const box = chart.svg.getBoundingClientRect();
    const scale = chart.svg.viewBox.baseVal.width / box.width;
    return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
};

const hover = (chart, event) => {
    const [a, b] = pointAt(chart, event);
    clearCursor();
    const panel = chart.panels.find((p) => inside(p, a, b, 8));
    if (!panel) return;
    pointer = { clientX: event.clientX, clientY: event.clientY };
    if (panel.map) return mapCursor(panel, a, b, event.clientX, event.clientY);
    const [left, , width] = panel.box;
    const part = Math.min(1, Math.max(0, (a - left) / width));
    if (panel.categories) return cursorAt(chart, panel, Math.round(valueAt(panel.axes.x, part)), event.clientX, event.clientY);
    if (isCloud(panel)) {
        const found = nearestPoint(panel, a, b);
        return found && cursorAt(chart, panel, found.series.xs[found.i], event.clientX, event.clientY, found);
    }
    cursorAt(chart, panel, snap(panel, valueAt(panel.axes.x, part)), event.clientX, event.clientY);
};

/* The mouse rests where it was, on a page that has come anew. */
const hoverAgain = (was) => {
    const svg = was && document.elementFromPoint(was.clientX, was.clientY)?.closest("svg.chart");
    const chart = svg && charts.find((c) => c.svg === svg);
    if (chart) hover(chart, was);
};

/* ---- Zoom and pan --------------------------------------------------------------------------- */

const canZoom = (panel) => !panel.map && !panel.categories;

/* Panels of one chart with the same axis zoom together. */
const zoomTo = (chart, panel, low, high) => {
    const least = (panel.x.high - panel.x.low) * 1e-6;
    if (!(high - low > least)) return;
    const all = low <= panel.x.low && high >= panel.x.high;
    for (const p of chart.panels) if (p === panel || sameAxis(p, panel)) p.zoom = all ? null : { low, high };
    redraw(chart);
};

const zoomBy = (chart, panel, factor, middle = 0.5) => {
    const { low, high } = panel.axes.x;
    const at = low + middle * (high - low);
    zoomTo(chart, panel, Math.max(panel.x.low, at - (at - low) * factor), Math.min(panel.x.high, at + (high - at) * factor));
};

const pan = (chart, panel, part) => {
    const { low, high } = panel.axes.x;
    let step = part * (high - low);
    step = Math.min(panel.x.high - high, Math.max(panel.x.low - low, step));
    if (step) zoomTo(chart, panel, low + step, high + step);
};

const reset = (chart) => {
    for (const panel of chart.panels) {
        panel.zoom = null;
        panel.log = panel.y.log;
        panel.smooth = 0;
        for (const series of panel.series) series.off = false;
    }
    if (chart.smooth) chart.smooth.value = "0";
    redraw(chart);
};

/* Drag: the range between its ends is shown; with shift the range moves along. */
const dragging = (chart, down) => {
    const [a0, b0] = pointAt(chart, down);
    const panel = chart.panels.find((p) => canZoom(p) && inside(p, a0, b0, 0));
    if (!panel || down.button !== 0 || down.pointerType === "touch") return; // a finger reads values
    const [left, top, width, height] = panel.box;
    const { low, high } = panel.axes.x;
    const shade = make(chart.svg, "rect", { class: "shade", y: top, height, x: a0, width: 0 });
    const part = (event) => Math.min(1, Math.max(0, (pointAt(chart, event)[0] - left) / width));
    const begin = part(down);
    const move = (event) => {
        const now = part(event);
        if (down.shiftKey) {
            const step = Math.min(panel.x.high - high, Math.max(panel.x.low - low, (begin - now) * (high - low)));
            zoomTo(chart, panel, low + step, high + step);
            return;
        }
        shade.setAttribute("x", left + width * Math.min(begin, now));
        shade.setAttribute("width", width * Math.abs(now - begin));
    };
    const up = (event) => {
        chart.svg.removeEventListener("pointermove", move);
        shade.remove();
        const now = part(event);
        if (event.type === "pointerup" && !down.shiftKey && Math.abs(now - begin) * width > 6)
            zoomTo(chart, panel, low + Math.min(begin, now) * (high - low), low + Math.max(begin, now) * (high - low));
    };
    chart.svg.setPointerCapture(down.pointerId);
    chart.svg.addEventListener("pointermove", move);
    chart.svg.addEventListener("pointerup", up, { once: true });
    chart.svg.addEventListener("pointercancel", up, { once: true });
};

/* ---- Keys of a keyboard ---------------------------------------------------------------------- */

/* The places that the arrow keys visit: bars, the points of a cloud one by one, or what the longest series has. */
const stops = (panel) => {
    if (panel.categories) return panel.categories.map((_, i) => ({ x: i }));
    const shown = panel.series.filter((s) => !s.off && s.xs.length > 0);
    if (isCloud(panel)) return shown.flatMap((series) => series.xs.map((x, i) => ({ x, only: { series, i } }))).sort((a, b) => a.x - b.x);
    const longest = shown.reduce((a, s) => (a && a.xs.length >= s.xs.length ? a : s), null);
    return longest ? longest.xs.map((x) => ({ x })) : [];
};

const step = (chart, by) => {
    const panel = chart.panels.find((p) => !p.map);
    const all = panel ? stops(panel) : [];
    if (all.length === 0) return;
    chart.at = Math.min(all.length - 1, Math.max(0, (chart.at === undefined ? (by > 0 ? -1 : all.length) : chart.at) + by));
    const { x, only } = all[chart.at];
    pointer = null;
    const box = chart.svg.getBoundingClientRect();
    const scale = box.width / chart.svg.viewBox.baseVal.width;
    clearCursor();
    const a = box.left + scale * (panel.box[0] + panel.box[2] * Math.min(1, Math.max(0, place(panel.axes.x, x))));
    voice.textContent = cursorAt(chart, panel, x, a, box.top + scale * panel.box[1], only);
};

const onKey = (chart, event) => {
    const panel = chart.panels.find(canZoom);
    const jump = Math.max(1, Math.round((chart.panels[0].series[0]?.xs.length || 0) / 20));
    const actions = {
        ArrowRight: () => (event.shiftKey && panel ? pan(chart, panel, 0.25) : step(chart, 1)),
        ArrowLeft: () => (event.shiftKey && panel ? pan(chart, panel, -0.25) : step(chart, -1)),
        PageDown: () => step(chart, jump),
        PageUp: () => step(chart, -jump),
        "+": () => panel && zoomBy(chart, panel, 0.5),
        "-": () => panel && zoomBy(chart, panel, 2),
        0: () => reset(chart),
        Escape: clearCursor,
        l: () => toggleLog(chart),
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
};

/* ---- Buttons -------------------------------------------------------------------------------- */

const toggleLog = (chart) => {
    const on = !chart.panels.some((p) => p.log && !p.map);
    for (const panel of chart.panels) panel.log = on && panel.series.some((s) => s.ys.some((y) => y > 0));
    redraw(chart);
};

/* The numbers as a table: for readers of screens, and for copying. */
const MOST_LINES = 500;

const fillMap = (chart, panel) => {
    const { rows, columns, values, xs, ys } = panel.map;
    if (!values) return;
    const table = make(chart.table, "table");
    make(table, "caption", {}, `${panel.title || panel.map.label || ""}: rows are ${panel.y.label || "rows"}, columns ${panel.x.label || "columns"}`);
    const head = make(make(table, "thead"), "tr");
    make(head, "th", {}, "");
    for (let j = 0; j < columns; j++) make(head, "th", { class: "n" }, numberText(xs ? xs[j] : j));
    const body = make(table, "tbody");
    for (let i = 0; i < rows; i++) {
        const row = make(body, "tr");
        make(row, "th", { class: "n" }, numberText(ys ? ys[i] : i));
        for (let j = 0; j < columns; j++) make(row, "td", { class: "n" }, numberText(values[i * columns + j], 4));
    }
};

const fillTable = (chart) => {
    chart.table.replaceChildren();
    for (const panel of chart.panels) {
        if (panel.map) fillMap(chart, panel);
        if (panel.map || panel.series.length === 0) continue;
        const table = make(chart.table, "table");
        if (panel.title) make(table, "caption", {}, panel.title);
        const head = make(make(table, "thead"), "tr");
        for (const word of ["series", panel.x.label || "x", panel.y.label || "y"]) make(head, "th", {}, word);
        const body = make(table, "tbody");
        let lines = 0;
        for (const series of panel.series)
            for (let i = 0; !series.off && i < series.xs.length; i++) {
                const part = panel.categories ? 0.5 : place(panel.axes.x, series.xs[i]);
                if (part < 0 || part > 1 || ++lines > MOST_LINES) continue;
                const row = make(body, "tr");
                make(row, "td", {}, series.name || "");
                make(row, "td", { class: "n" }, panel.categories ? panel.categories[i] : numberText(series.xs[i], 7));
                make(row, "td", { class: "n" }, valueText(series, i, panel));
            }
        if (lines > MOST_LINES) make(chart.table, "p", { class: "quiet" }, `The first ${MOST_LINES} of ${lines}: zoom in to see others.`);
    }
};

const addTools = (chart) => {
    const tools = make(chart.figure, "div", { class: "tools" });
    const button = (text, label, action) => {
        const b = make(tools, "button", { type: "button", "aria-label": label, title: label }, text);
        b.addEventListener("click", action);
        return b;
    };
    const small = chart.figure.closest(".small"); // there is no room for all of them: the keyboard zooms
    const panel = chart.panels.find(canZoom);
    if (!small && panel && panel.series.some((s) => s.xs.length > 2)) {
        button("+", "zoom in", () => zoomBy(chart, panel, 0.5));
        button("−", "zoom out", () => zoomBy(chart, panel, 2));
        button("◂", "earlier", () => pan(chart, panel, -0.25));
        button("▸", "later", () => pan(chart, panel, 0.25));
    }
    if (chart.panels.some((p) => !p.map && !p.fixed)) button("log", "log scale of the upright axis, on or off", () => toggleLog(chart));
    if (!small && chart.panels.some((p) => p.series.some((s) => s.marks !== "points" && s.marks !== "bars" && s.xs.length > 4))) {
        chart.smooth = make(tools, "select", { "aria-label": "smoothing", title: "smoothing" });
        for (const [value, text] of [[0, "as is"], [0.6, "smooth"], [0.9, "smoother"], [0.98, "smoothest"]]) make(chart.smooth, "option", { value }, text);
        chart.smooth.addEventListener("change", () => {
            for (const p of chart.panels) p.smooth = Number(chart.smooth.value);
            redraw(chart);
        });
    }
    if (chart.panels.some((p) => !p.map)) button("all", "everything again, as it was", () => reset(chart));
    if (chart.panels.some((p) => !p.map || p.map.values)) {
        const numbers = button("numbers", "the numbers as a table", () => {
            if (chart.table) chart.table.remove();
            chart.table = chart.table ? null : make(chart.figure, "div", { class: "wide numbers", tabindex: 0 });
            numbers.setAttribute("aria-expanded", Boolean(chart.table));
            if (chart.table) fillTable(chart);
        });
        numbers.classList.add("as-table");
    }
    addSaving(tools, chart.svg);
    rove(tools);
};

/* A click on a key of the legend switches its series; with shift all others. */
const addKeys = (chart) => {
    const named = (panel) => panel.series.filter((s) => s.name);
    const groups = [...chart.svg.querySelectorAll(".key")];
    let begin = 0;
    const shared = chart.panels.length > 1 && groups.length === named(chart.panels[0]).length;
    for (const panel of shared ? chart.panels.slice(0, 1) : chart.panels) {
        named(panel).forEach((series, k) => {
            const group = groups[begin + k];
            if (!group) return;
            const same = shared ? chart.panels.map((p) => named(p)[k]) : [series];
            const toggle = (event) => {
                const others = event.shiftKey;
                for (const p of shared ? chart.panels : [panel]) if (others) for (const s of p.series) s.off = !same.includes(s);
                if (!others) for (const s of same) s.off = !s.off;
                redraw(chart);
            };
            group.setAttribute("role", "button");
            group.setAttribute("tabindex", 0);
            group.setAttribute("aria-label", series.name);
            const paint = () => {
                group.setAttribute("aria-pressed", !series.off);
                group.classList.toggle("off", series.off);
            };
            paint();
            group.addEventListener("click", toggle);
            group.addEventListener("keydown", (event) => {
                if (event.key !== "Enter" && event.key !== " ") return;
                event.preventDefault();
                event.stopPropagation();
                toggle(event);
            });
            chart.keys.push({ paint });
        });
        begin += named(panel).length;
    }
};

const describe = (chart) =>
    chart.panels
        .map((p) => {
            const what = p.map ? `a map of ${p.map.rows} by ${p.map.columns}` : p.series.map((s) => `${s.name ? s.name + ", " : ""}${s.xs.length} points`).join("; ");
            return `${p.title || "chart"}: ${p.y.label || "y"} against ${p.x.label || "x"}; ${what}`;
        })
        .join(". ");

const addChart = (figure, about, columns) => {
    const svg = figure.querySelector("svg.chart");
    const groups = [...svg.querySelectorAll(".panel")];
    const chart = { figure, svg, panels: about.map((p, i) => readPanel(p, groups[i], columns)), keys: [], changed: false };
    chart.overlay = make(svg, "g", { class: "cursor", "aria-hidden": true });
    svg.setAttribute("tabindex", 0);
    svg.setAttribute("role", "application"); // so that a screen reader leaves the arrow keys to it
    svg.setAttribute("aria-roledescription", "chart");
    svg.setAttribute("aria-label", describe(chart) + ". Arrow keys read the points, plus and minus zoom, l is a log axis, 0 shows all.");
    svg.addEventListener("pointermove", (event) => {
        hover(chart, event);
        byFinger = event.pointerType === "touch";
    });
    svg.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && clearCursor()); // what a finger found stays
    svg.addEventListener("pointerdown", (event) => {
        if (event.pointerType === "touch") hover(chart, event);
        byFinger = event.pointerType === "touch";
        dragging(chart, event);
    });
    svg.addEventListener("dblclick", () => reset(chart));
    svg.addEventListener("keydown", (event) => onKey(chart, event));
    svg.addEventListener("blur", clearCursor);
    svg.addEventListener(
        "wheel",
        (event) => {
            const [a, b] = pointAt(chart, event);
            const panel = chart.panels.find((p) => canZoom(p) && inside(p, a, b, 0));
            if (!panel || !(event.ctrlKey || event.shiftKey)) return;
            event.preventDefault();
            zoomBy(chart, panel, event.deltaY + event.deltaX > 0 ? 1.25 : 0.8, (a - panel.box[0]) / panel.box[2]);
        },
        { passive: false },
    );
    charts.push(chart);
    addKeys(chart);
    addTools(chart);
};
