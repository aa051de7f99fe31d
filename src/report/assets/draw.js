/* draw.js - draws a panel again, in the words of chart_axes.c and chart_series.c, after its reader
 * has zoomed, switched a series off or asked for a log axis. Colours are the page's classes. */

const COLOURS = 7;
const DASHES = ["6 5", "2 4", "12 5", "9 4 2 4", "1 7", "16 4 6 4", "7 3 2 3 2 3"];
const SHAPES = [
    "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",
    "m-3.2 -3.2h6.4v6.4h-6.4z",
    "m0 -4.2l4 7h-8z",
    "m0 -4.4l4.4 4.4l-4.4 4.4l-4.4 -4.4z",
];

/* A new element of SVG (or of HTML, where `html` says so) inside parent. */
const make = (parent, name, attributes = {}, text) => {
    const html = parent instanceof HTMLElement;
    const element = html ? document.createElement(name) : document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
};

const px = (value) => Math.round(value * 100) / 100;

/* The dashes of a line: others each time that the colours come again (chart_series.c). */
const dashesOf = (series) => {
    const turn = Math.floor(series.colour / COLOURS);
    return turn > 0 ? DASHES[(turn - 1) % DASHES.length] : series.dashed ? DASHES[0] : "none";
};

/* The running mean of a series: each point is `part` of the mean before it and the rest of itself. */
const smoothed = (values, part) => {
    let mean = NaN;
    return values.map((value) => {
        if (value === null || !isFinite(value)) return value;
        mean = isNaN(mean) ? value : part * mean + (1 - part) * value;
        return mean;
    });
};

/* Points that fall on one pixel are drawn as their least and largest: the picture is the same. */
const linePath = (panel, series, values) => {
    const { x, y } = panel.axes;
    const [left, top, width, height] = panel.box;
    let path = "";
    let down = false;
    let bundle = null;
    const to = ([a, b]) => {
        path += (down ? "L" : "M") + px(a) + " " + px(b);
        down = true;
    };
    const letGo = () => {
        if (!bundle) return;
        const ends = bundle.least[0] <= bundle.most[0] ? [bundle.least, bundle.most] : [bundle.most, bundle.least];
        to(ends[0]);
        if (ends[1][1] !== ends[0][1]) to(ends[1]);
        bundle = null;
    };
    for (let i = 0; i < values.length; i++) {
        const a = left + width * place(x, series.xs[i]);
        const b = top + height * (1 - place(y, values[i]));
        if (isNaN(a) || isNaN(b)) {
            letGo();
            down = false;
            continue;
        }
        if (a < left - width || a > left + 2 * width) continue; // far off the axes
        if (bundle && Math.floor(a) !== bundle.pixel) letGo();
        if (!bundle) bundle = { pixel: Math.floor(a), least: [a, b], most: [a, b] };
        if (b < bundle.least[1]) bundle.least = [a, b];
        if (b > bundle.most[1]) bundle.most = [a, b];
    }
    letGo();
    return path;
};

const bandPath = (panel, series) => {
    const { x, y } = panel.axes;
    const [left, top, width, height] = panel.box;
    const at = (i, value) => px(left + width * place(x, series.xs[i])) + " " + px(top + height * (1 - place(y, value)));
    let path = "";
    let run = [];
    const letGo = () => {
        if (run.length)
            path += "M" + run.map((i) => at(i, series.highs[i])).join("L") + "L" + run.reverse().map((i) => at(i, series.lows[i])).join("L") + "Z";
        run = [];
    };
    for (let i = 0; i < series.xs.length; i++) {
        const sound = !at(i, series.lows[i]).includes("NaN") && !at(i, series.highs[i]).includes("NaN");
        if (sound) run.push(i);
        else letGo();
    }
    letGo();
    return path;
};

const drawPoints = (plot, panel, series) => {
    const { x, y } = panel.axes;
    const [left, top, width, height] = panel.box;
    const colour = series.colour % COLOURS;
    const stride = series.marks === "both" && series.xs.length > 40 ? Math.ceil(series.xs.length / 25) : 1;
    for (let i = 0; i < series.xs.length; i += stride) {
        const a = left + width * place(x, series.xs[i]);
        const b = top + height * (1 - place(y, series.ys[i]));
        if (isNaN(a) || isNaN(b)) continue;
        if (series.marks === "points" && series.lows) {
            const low = px(top + height * (1 - place(y, series.lows[i])));
            const high = px(top + height * (1 - place(y, series.highs[i])));
            make(plot, "path", { class: "s" + (colour + 1), fill: "none", "stroke-width": 1.2, d: `M${px(a)} ${low}V${high}M${px(a - 3)} ${low}h6M${px(a - 3)} ${high}h6` });
        }
        make(plot, "path", { class: "f" + (colour + 1), d: `M${px(a)} ${px(b)}${SHAPES[series.colour % 4]}` });
    }
};

const drawBars = (plot, panel, series, which) => {
    const { x, y } = panel.axes;
    const [left, top, width, height] = panel.box;
    const slot = width / (x.high - x.low);
    const bar = (slot * 0.8) / panel.series.length;
    const zero = place(y, 0);
    const ground = Math.min(top + height * (1 - (isNaN(zero) ? 0 : zero)), top + height);
    series.ys.forEach((value, i) => {
        const b = top + height * (1 - place(y, value));
        if (isNaN(b)) return;
        const a = left + width * place(x, i) - slot * 0.4 + bar * which;
        make(plot, "rect", { class: "f" + ((series.colour % COLOURS) + 1), x: px(a), y: px(Math.min(b, ground)), width: px(bar * 0.94), height: px(Math.abs(ground - b)) });
    });
};

const drawSeries = (plot, panel, series, which) => {
    const line = (values, opacity) =>
        make(plot, "path", {
            class: "s" + ((series.colour % COLOURS) + 1),
            fill: "none",
            "stroke-width": 1.8,
            "stroke-linejoin": "round",
            "stroke-opacity": opacity,
            "stroke-dasharray": dashesOf(series),
            d: linePath(panel, series, values),
        });
    if (series.marks === "bars") drawBars(plot, panel, series, which);
    if (series.marks === "line" || series.marks === "both") {
        if (panel.smooth > 0) line(series.ys, 0.25);
        line(panel.smooth > 0 ? smoothed(series.ys, panel.smooth) : series.ys, 1);
    }
    if (series.marks === "points" || (series.marks === "both" && panel.smooth === 0) || series.xs.length === 1)
        drawPoints(plot, panel, series);
};

/* Ticks of the level axis: fewer where their labels would run into each other, none without a label. */
const columnTicks = (axis, width) => {
    for (let about = width > 380 ? 8 : 5; ; about--) {
        const columns = ticksOf(axis, about);
        const texts = tickTexts(axis, columns);
        const at = columns.map((value) => width * place(axis, value));
        if (about === 1 || at.every((a, i) => i === 0 || a - at[i - 1] >= (7 * (texts[i].length + texts[i - 1].length)) / 2 + 6)) return { columns, texts };
    }
};

const drawTicks = (group, panel) => {
    const [left, top, width, height] = panel.box;
    const bottom = top + height;
    group.replaceChildren();
    const line = (kind, d) => make(group, "path", { class: kind, d });
    const rows = ticksOf(panel.axes.y, 6);
    const rowTexts = tickTexts(panel.axes.y, rows);
    rows.forEach((value, i) => {
        const b = px(bottom - height * place(panel.axes.y, value));
        line("grid", `M${left} ${b}h${width}`);
        line("axis", `M${left - 4} ${b}h4`);
        make(group, "text", { class: "ink", x: left - 7, y: b + 4, "text-anchor": "end" }, rowTexts[i]);
    });
    if (panel.categories) return;
    const { columns, texts } = columnTicks(panel.axes.x, width);
    columns.forEach((value, i) => {
        const a = px(left + width * place(panel.axes.x, value));
        line("grid", `M${a} ${top}v${height}`);
        line("axis", `M${a} ${bottom}v4`);
        make(group, "text", { class: "ink", x: a, y: bottom + 17, "text-anchor": "middle" }, texts[i]);
    });
};

/* The panel as its axes, switches and smoothing say; without any wish the picture that was there first. */
const drawPanel = (panel) => {
    const ticks = panel.group.querySelector(".ticks");
    const plot = panel.group.querySelector(".plot");
    panel.first ||= [[...ticks.childNodes], [...plot.childNodes]];
    if (panel.axes.x === panel.x && panel.axes.y === panel.y && panel.smooth === 0 && !panel.series.some((s) => s.off)) {
        ticks.replaceChildren(...panel.first[0]);
        plot.replaceChildren(...panel.first[1]);
        return;
    }
    drawTicks(ticks, panel);
    plot.replaceChildren();
    const shown = panel.series.filter((series) => !series.off);
    for (const series of shown)
        if (series.lows && series.marks !== "points" && series.marks !== "bars")
            make(plot, "path", { class: "f" + ((series.colour % COLOURS) + 1), "fill-opacity": 0.18, d: bandPath(panel, series) });
    panel.series.forEach((series, which) => series.off || drawSeries(plot, panel, series, which));
};
