/* scale.js - axes as scale.c has them: where a number lies, which ones are labelled, how numbers
 * are written. A log axis holds powers of ten in low and high. */

const place = (axis, value) => {
    if (value === null || !isFinite(value) || (axis.log && value <= 0)) return NaN;
    return ((axis.log ? Math.log10(value) : value) - axis.low) / (axis.high - axis.low);
};

const valueAt = (axis, part) => {
    const at = axis.low + part * (axis.high - axis.low);
    return axis.log ? 10 ** at : at;
};

const SUPER = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const power = (exponent) =>
    (exponent < 0 ? "⁻" : "") + [...String(Math.abs(exponent))].map((d) => SUPER[d]).join("");

/* "0.05", "20,000", "3.2×10⁷"; so many digits that count. */
const numberText = (value, digits = 6) => {
    if (value === null || value === undefined || !isFinite(value)) return "–";
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e9 || size < 1e-4) {
        const [front, exponent] = value.toExponential(digits - 1).split("e");
        const short = String(Number(front));
        return (short === "1" ? "" : short === "-1" ? "-" : short + "×") + "10" + power(Number(exponent));
    }
    const whole = Number.isInteger(value) ? value : Number(value.toPrecision(digits));
    return whole.toLocaleString("en-US", { maximumFractionDigits: 12 });
};

/* Multiples of 1, 2 or 5 times a power of ten, about this many. */
const plainTicks = (axis, about) => {
    const span = axis.high - axis.low;
    const rough = span / about;
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((k) => k * unit >= rough * 0.999) * unit;
    const ticks = [];
    for (let k = Math.ceil(axis.low / step - 1e-9); k * step <= axis.high + step * 1e-9; k++)
        ticks.push(Number((k * step).toPrecision(12)));
    return ticks;
};

const logTicks = (axis, about) => {
    const stride = Math.max(1, Math.ceil((axis.high - axis.low) / about));
    const ticks = [];
    for (let k = Math.ceil(axis.low - 1e-9); k <= axis.high + 1e-9; k++) if (k % stride === 0) ticks.push(10 ** k);
    if (ticks.length > 1) return ticks;
    return plainTicks({ low: 10 ** axis.low, high: 10 ** axis.high }, about).filter((v) => v > 0);
};

const ticksOf = (axis, about) => (axis.log ? logTicks(axis, about) : plainTicks(axis, about));

/* The labels of ticks, all with as many digits behind the point as the one that needs most. */
const tickTexts = (axis, ticks) => {
    const most = Math.max(...ticks.map(Math.abs));
    if (axis.log || most >= 1e6 || most < 1e-3) return ticks.map((value) => numberText(value, 4));
    const digits = Math.max(...ticks.map((value) => (String(value).split(".")[1] || "").length));
    return ticks.map((value) => value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }));
};

/* An axis over these numbers, with a margin at both ends. */
const axisOver = (values, log, margin) => {
    let low = Infinity;
    let high = -Infinity;
    for (const value of values) {
        if (value === null || !isFinite(value) || (log && value <= 0)) continue;
        const at = log ? Math.log10(value) : value;
        if (at < low) low = at;
        if (at > high) high = at;
    }
    if (low > high) return { log, low: 0, high: 1 };
    if (low === high) {
        const room = log ? 0.5 : Math.abs(low) * 0.1 || 1;
        return { log, low: low - room, high: high + room };
    }
    const room = (high - low) * margin;
    return { log, low: low - room, high: high + room };
};
