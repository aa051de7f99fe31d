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
    for (const svg of main.querySelectorAll("figure:not(.drawn) > svg.chart")) addSaving(make(svg.parentNode, "div", { class: "tools" }), svg);
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
    });
    return all;
};

const fulfil = (all) => {
    const named = names();
    charts.forEach((chart, i) => {
        const wish = all[named[i]];
        if (!wish) return;
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

const replace = (text) => {
    const next = new DOMParser().parseFromString(text, "text/html");
    const data = next.getElementById("data");
    const main = next.querySelector("main");
    if (!data || !main) return false;
    const before = { wishes: wishes(), opened: opened(), x: scrollX, y: scrollY };
    document.title = next.title;
    document.querySelector("main").replaceWith(document.adoptNode(main));
    document.getElementById("data").textContent = data.textContent;
    begin();
    for (const summary of main.querySelectorAll("details > summary")) if (before.opened.includes(summary.textContent)) summary.parentNode.open = true;
    fulfil(before.wishes);
    scrollTo(before.x, before.y);
    return true;
};

addEventListener("scroll", () => byFinger && clearCursor(), { passive: true });
addEventListener("pointerdown", (event) => byFinger && !event.target.closest?.("figure.drawn") && clearCursor());
window.tessera = { replace };
begin();
