/* filter.js - tables whose columns sort, and rows that are filtered by the values of their keys.
 *
 * Whatever has data-cell="17" belongs to cell (or run) 17: a row of a table, a square of a map, a
 * line of the parallel coordinates. The checkboxes of .filters say which values are shown; a cell
 * is shown when the value of each of its keys is. */

const UNITS = { kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, PB: 1e15 };

/* What a cell is sorted by: 597 kB are less than 2.33 MB. */
const sortKey = (text) => {
    const number = parseFloat(text.replace(/,/g, ""));
    const unit = text.match(/^[0-9.,]+ ([kMGTP]B)$/);
    return isNaN(number) ? text : number * (unit ? UNITS[unit[1]] : 1);
};

const sortBy = (table, column, header) => {
    const body = table.tBodies[0];
    const down = header.getAttribute("aria-sort") === "ascending";
    const key = (row) => sortKey((row.cells[column]?.textContent || "").trim());
    const rows = [...body.rows].map((row, i) => ({ row, i, value: key(row) }));
    rows.sort((a, b) => {
        if (a.value === "" || b.value === "") return (a.value === "") - (b.value === "") || a.i - b.i;
        const order = typeof a.value === "number" && typeof b.value === "number" ? a.value - b.value : String(a.value).localeCompare(String(b.value));
        return (down ? -order : order) || a.i - b.i;
    });
    for (const other of header.parentNode.cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows.map((r) => r.row));
};

const addSorting = (table) => {
    const heads = table.tHead?.rows[0]?.cells || [];
    [...heads].forEach((header, column) => {
        if (!header.textContent) return;
        header.classList.add("sorts");
        header.setAttribute("tabindex", 0);
        header.setAttribute("aria-label", header.textContent + ", sort");
        header.setAttribute("title", "sort");
        header.addEventListener("click", () => sortBy(table, column, header));
        header.addEventListener("keydown", (event) => {
            if (event.key !== "Enter" && event.key !== " ") return;
            event.preventDefault(); // a space would scroll
            sortBy(table, column, header);
        });
    });
};

const applyFilters = (filters) => {
    const off = new Set();
    for (const box of filters.querySelectorAll("input[type=checkbox]")) if (!box.checked) off.add(box.name + "=" + box.value);
    const word = (filters.querySelector("input[type=search]")?.value || "").toLowerCase();
    const scope = filters.closest("main");
    let shown = 0;
    let all = 0;
    for (const item of scope.querySelectorAll("[data-cell]")) {
        const hidden = (item.dataset.keys || "").split(" ").some((pair) => off.has(pair)) || (word && !(item.dataset.name || "").toLowerCase().includes(word));
        item.classList.toggle("off", Boolean(hidden));
        if (item.tagName === "TR") {
            all++;
            shown += !hidden;
        }
    }
    for (const chart of charts) {
        let changed = false;
        for (const panel of chart.panels)
            for (const series of panel.series) {
                const row = series.name && scope.querySelector(`tr[data-name="${CSS.escape(series.name)}"]`);
                if (!row) continue;
                changed ||= series.off !== row.classList.contains("off");
                series.off = row.classList.contains("off");
            }
        if (changed) redraw(chart);
    }
    filters.querySelector("output").textContent = shown < all ? `${shown} of ${all} shown` : `all ${all} shown`;
};

const addFilters = (filters) => {
    filters.hidden = false;
    filters.addEventListener("input", () => applyFilters(filters));
    for (const button of filters.querySelectorAll("button"))
        button.addEventListener("click", () => {
            for (const box of filters.querySelectorAll("input")) box.type === "checkbox" ? (box.checked = true) : (box.value = "");
            applyFilters(filters);
        });
};

/* What is under the cursor in the parallel coordinates or a map stands out everywhere; so does an
 * axis of the network. */
const addLinks = (main) => {
    const mark = (event) => {
        const item = event.target.closest?.("[data-cell], [data-axis]");
        for (const old of main.querySelectorAll(".marked")) old.classList.remove("marked");
        if (!item) return;
        const name = item.dataset.cell === undefined ? "axis" : "cell";
        for (const same of main.querySelectorAll(`[data-${name}="${CSS.escape(item.dataset[name])}"]`)) same.classList.add("marked");
    };
    main.addEventListener("pointerover", mark);
    main.addEventListener("focusin", mark);
};
