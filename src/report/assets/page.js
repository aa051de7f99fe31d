/* page.js - brings the page to life, and takes over a newer one (tessera watch) without losing what
 * its reader has done to this one. */

const begin = () => {
    const main = document.querySelector("main");
    const data = JSON.parse(document.getElementById("data").textContent);
    const figures = [...main.querySelectorAll("figure.drawn")];
    charts.length = 0;
    document.documentElement.classList.add("alive");
    tip = document.querySelector(".tip") || make(document.body, "div", { class: "tip", "aria-hidden": true });
    tip.hidden = true;
    voice = document.querySelector(".voice") || make(document.body, "div", { class: "voice", role: "status", "aria-live": "polite" });
    figures.forEach((figure, i) => data.charts[i] && addChart(figure, data.charts[i], data.columns));
    main.querySelectorAll("table.named").forEach(addSorting);
    main.querySelectorAll(".filters").forEach(addFilters);
    addLinks(main);
    for (const svg of main.querySelectorAll("figure:not(.drawn) > svg.chart")) {
        const tools = make(svg.parentNode, "div", { class: "tools" });
        addSaving(tools, svg);
        rove(tools);
    }
    for (const table of main.querySelectorAll(".wide > .judgements")) table.parentNode.scrollLeft = table.scrollWidth; // the last round counts
    for (const cell of main.querySelectorAll(".judgements td[title]")) cell.setAttribute("aria-label", cell.title);
};

/* A chart is known by its section, its titles, and its place among those that have the same. */
const names = () => {
    const seen = {};
    return charts.map((chart) => {
        const name = (chart.figure.closest("section")?.id || "") + "/" + chart.panels.map((p) => p.title).join("/");
        seen[name] = (seen[name] || 0) + 1;
        return name + "/" + seen[name];
    });
};

const wishes = () => {
    const all = {};
    const named = names();
    charts.forEach((chart, i) => {
        if (chart.changed || chart.table)
            all[named[i]] = { panels: chart.panels.map((p) => ({ zoom: p.zoom, log: p.log, smooth: p.smooth, off: p.series.filter((s) => s.off).map((s) => s.name) })), table: Boolean(chart.table) };
        if (chart.at !== undefined) (all[named[i]] ||= {}).at = chart.at;
    });
    return all;
};

const fulfil = (all) => {
    const named = names();
    charts.forEach((chart, i) => {
        const wish = all[named[i]];
        if (!wish) return;
        chart.at = wish.at; // the point that the arrow keys had come to
        if (!wish.panels) return;
        chart.panels.forEach((panel, k) => {
            const was = wish.panels[k];
            if (!was) return;
            Object.assign(panel, { zoom: was.zoom, log: was.log, smooth: was.smooth });
            for (const series of panel.series) series.off = was.off.includes(series.name);
        });
        if (chart.smooth) chart.smooth.value = String(wish.panels[0]?.smooth || 0);
        if (wish.table) chart.figure.querySelector(".tools .as-table").click();
        redraw(chart);
    });
};

/* An opened <details> is known by its summary. */
const opened = () => [...document.querySelectorAll("main details[open] > summary")].map((s) => s.textContent);

/* What a keyboard can reach is known by its section, its label, and its place among those with the same. */
const label = (element) => element.tagName + (element.getAttribute("aria-label") || element.getAttribute("href") || element.textContent).split(":")[0];
const reachable = (where, like) => [...where.querySelectorAll("a, button, select, input, summary, [tabindex]")].filter((e) => label(e) === like);
const whereOf = (element) => element.closest("section[id]") || document.querySelector("main");

const focused = () => {
    const element = document.activeElement;
    if (!element || !element.closest("main")) return null;
    const like = label(element);
    return { section: element.closest("section[id]")?.id, like, index: reachable(whereOf(element), like).indexOf(element) };
};

const focusAgain = (was) => {
    const where = was && ((was.section && document.getElementById(was.section)) || document.querySelector("main"));
    if (where) reachable(where, was.like)[was.index]?.focus({ preventScroll: true });
};

/* Which rows are shown, and in which order. */
const rowsShown = () => ({
    off: [...document.querySelectorAll("main .filters input[type=checkbox]:not(:checked)")].map((box) => box.name + "=" + box.value),
    word: document.querySelector("main .filters input[type=search]")?.value || "",
    sorted: [...document.querySelectorAll("main table.named")].map((table) => {
        const header = table.querySelector("th[aria-sort]");
        return header && { column: header.cellIndex, down: header.getAttribute("aria-sort") === "descending" };
    }),
});

const showRows = (was) => {
    document.querySelectorAll("main table.named").forEach((table, i) => {
        const header = was.sorted[i] && table.tHead?.rows[0]?.cells[was.sorted[i].column];
        for (let k = 0; header && k < (was.sorted[i].down ? 2 : 1); k++) sortBy(table, was.sorted[i].column, header);
    });
    for (const filters of document.querySelectorAll("main .filters")) {
        for (const box of filters.querySelectorAll("input[type=checkbox]")) if (was.off.includes(box.name + "=" + box.value)) box.checked = false;
        const search = filters.querySelector("input[type=search]");
        if (search) search.value = was.word;
        if (was.off.length || was.word) applyFilters(filters);
    }
};

/* How far wide tables are scrolled; one that shows its end goes on showing it. */
const scrolled = () =>
    [...document.querySelectorAll("main .wide")].map((e) => (e.scrollLeft + e.clientWidth >= e.scrollWidth - 2 ? null : e.scrollLeft));

const scrollAgain = (was) =>
    document.querySelectorAll("main .wide").forEach((e, i) => typeof was[i] === "number" && (e.scrollLeft = was[i]));

const replace = (text) => {
    const next = new DOMParser().parseFromString(text, "text/html");
    const data = next.getElementById("data");
    const main = next.querySelector("main");
    if (!data || !main) return false;
    const before = { wishes: wishes(), opened: opened(), rows: rowsShown(), focus: focused(), wide: scrolled(), pointer: tip.hidden ? null : pointer, x: scrollX, y: scrollY };
    document.title = next.title;
    document.querySelector("main").replaceWith(document.adoptNode(main));
    document.getElementById("data").textContent = data.textContent;
    begin();
    for (const summary of main.querySelectorAll("details > summary")) if (before.opened.includes(summary.textContent)) summary.parentNode.open = true;
    showRows(before.rows);
    fulfil(before.wishes);
    scrollAgain(before.wide);
    scrollTo(before.x, before.y);
    focusAgain(before.focus);
    hoverAgain(before.pointer);
    return true;
};

/* Paper cannot be unfolded. */
let unfolded = [];
addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll("main details:not([open])")];
    for (const details of unfolded) details.open = true;
});
addEventListener("afterprint", () => {
    for (const details of unfolded) details.open = false;
});
addEventListener("scroll", () => byFinger && clearCursor(), { passive: true });
addEventListener("pointerdown", (event) => byFinger && !event.target.closest?.("figure.drawn") && clearCursor());
window.tessera = { replace };
begin();
