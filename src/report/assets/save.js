/* save.js - a picture as a file: SVG or PNG, as it stands on the page, zoomed and switched as its
 * reader has it. Colours and letters are written out, so that the file needs no page around it. */

const WRITTEN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "fill-opacity", "stroke-opacity", "opacity", "paint-order", "font-size", "font-family", "font-weight", "text-anchor"];

const standalone = (svg) => {
    const copy = svg.cloneNode(true);
    const ours = [svg, ...svg.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((element, i) => {
        const look = getComputedStyle(ours[i]);
        if (look.display === "none" && element !== copy && element.tagName !== "title") element.dataset.gone = "yes";
        for (const name of WRITTEN) element.setAttribute(name, look.getPropertyValue(name));
        for (const name of ["class", "style", "tabindex", "role", "aria-label", "aria-pressed"]) element.removeAttribute(name);
    });
    for (const element of copy.querySelectorAll("[data-gone], [aria-hidden]")) element.remove();
    const { width, height } = svg.viewBox.baseVal;
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    const paper = copy.querySelector("rect");
    if (paper && ours.find((e) => e.tagName === "rect")?.classList.contains("paper")) paper.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
    return { text: new XMLSerializer().serializeToString(copy), width, height };
};

/* "demo-accuracy-against-time.svg" */
const fileName = (svg, ending) => {
    const page = document.title.replace(/ - tessera$/, "");
    const title = svg.querySelector("g[font-weight=bold] text, .title")?.textContent || svg.closest("section")?.id || "";
    return `${page} ${title}`.trim().toLowerCase().replace(/[^a-z0-9.]+/g, "-") + ending;
};

const download = (blob, name) => {
    const link = make(document.body, "a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
};

const saveSvg = (svg) => download(new Blob([standalone(svg).text], { type: "image/svg+xml" }), fileName(svg, ".svg"));

const savePng = (svg) => {
    const { text, width, height } = standalone(svg);
    const image = new Image();
    image.onload = () => {
        const canvas = document.createElement("canvas");
        canvas.width = 2 * width;
        canvas.height = 2 * height;
        canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
        canvas.toBlob((blob) => blob && download(blob, fileName(svg, ".png")));
    };
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
};

/* Buttons below a picture are one stop of the Tab key; the arrows move among them. A page of forty charts had 300 stops. */
const rove = (tools) => {
    const items = [...tools.children];
    const stop = (at) => items.forEach((item, i) => (item.tabIndex = i === at ? 0 : -1));
    tools.setAttribute("role", "toolbar");
    tools.setAttribute("aria-label", "of this picture");
    stop(0);
    tools.addEventListener("focusin", (event) => stop(items.indexOf(event.target)));
    tools.addEventListener("keydown", (event) => {
        const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!by) return;
        event.preventDefault();
        items[(items.indexOf(event.target) + by + items.length) % items.length].focus();
    });
};

const addSaving = (tools, svg) => {
    for (const [text, save] of [["svg", saveSvg], ["png", savePng]]) {
        const label = `save this picture as ${text.toUpperCase()}`;
        make(tools, "button", { type: "button", "aria-label": label, title: label }, text).addEventListener("click", () => save(svg));
    }
};
