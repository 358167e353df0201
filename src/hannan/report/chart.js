"use strict";
// One chart: axes, lines with bands, their limits, and a crosshair that shows values.

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = { top: 10, right: 14, bottom: 26, left: 46 };
const PATTERNS = ["", "10 3 2 3", "2 3", "14 4", "6 2 1 2 1 2"];
const MOST_READINGS = 14;

function make(tag, attributes, parent, text) {
  const drawn = parent instanceof SVGElement || tag === "svg";
  const node = drawn ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    // The page forbids style attributes; its script may set styles.
    if (name === "style") node.style.cssText = value;
    else node.setAttribute(name, value);
  }
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}

function shown(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(value))));
  const text = decimals > 7 ? value.toExponential(digits - 1)
    : value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return text.replace("-", "−");
}

// All ticks of an axis have the unit of the largest one.
function tickText(value, most = Math.abs(value)) {
  const [unit, letter] = most >= 1e9 ? [1e9, "G"] : most >= 1e6 ? [1e6, "M"] : most >= 1e4 ? [1e3, "k"] : [1, ""];
  const own = Math.abs(value) < unit / 2 ? [1, ""] : [unit, letter];
  return `${+(value / own[0]).toPrecision(6)}${own[1]}`.replace("-", "−");
}

function linearTicks(low, high, count) {
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) ticks.push(k * step);
  return ticks;
}

function logTicks(low, high, count) {
  const decades = Math.log10(high / low);
  const factors = decades > 1.5 ? [1] : decades > 0.8 ? [1, 3] : [1, 2, 3, 5, 7];
  const skip = factors.length === 1 ? Math.max(1, Math.ceil(decades / count)) : 1;
  const ticks = [];
  for (let p = Math.floor(Math.log10(low)); p <= Math.log10(high); p += 1) {
    if (p % skip) continue;
    for (const f of factors) if (f * 10 ** p >= low * 0.999 && f * 10 ** p <= high * 1.001) ticks.push(f * 10 ** p);
  }
  return ticks;
}

class Scale {
  constructor(low, high, from, to, log) {
    Object.assign(this, { low, high, from, to, log });
  }

  at(value) {
    const share = this.log ? Math.log(value / this.low) / Math.log(this.high / this.low)
      : (value - this.low) / (this.high - this.low);
    return this.from + share * (this.to - this.from);
  }

  inverse(position) {
    const share = (position - this.from) / (this.to - this.from);
    return this.log ? this.low * (this.high / this.low) ** share : this.low + share * (this.high - this.low);
  }

  ticks(count) {
    return (this.log ? logTicks : linearTicks)(this.low, this.high, count);
  }
}

// spec: { lines: [{ i, name, slot, ours, t, mean, low, high, limits: [{ kind, values }] }], log, label }
class Chart {
  constructor(figure, spec, state) {
    Object.assign(this, { figure, spec, state });
    this.plot = figure.querySelector(".plot");
    this.tip = make("div", { class: "tip", role: "status", hidden: "" }, this.plot);
    this.note = make("p", { class: "note" }, figure);
    this.plot.addEventListener("pointermove", (event) => this.point(event));
    this.plot.addEventListener("pointerdown", (event) => this.point(event));
    this.plot.addEventListener("pointerleave", () => this.leave());
    this.plot.addEventListener("keydown", (event) => this.key(event));
    this.plot.addEventListener("blur", () => this.leave());
    this.plot.tabIndex = 0;
    this.plot.setAttribute("role", "group");
    this.plot.setAttribute("aria-label", `${spec.label}: arrow keys read values`);
  }

  get lines() {
    return this.spec.lines.filter((line) => !this.state.hidden.has(line.i));
  }

  limits(line) {
    return line.limits.filter((limit) => this.state[limit.kind]);
  }

  draw() {
    const width = this.plot.clientWidth;
    const height = Math.round(Math.min(300, Math.max(220, width * 0.6)));
    if (this.root) this.root.remove();
    this.leave();
    this.root = make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    this.plot.prepend(this.root);
    this.size = { width, height };
    this.scales();
    this.axes();
    const clip = `clip-${this.spec.id}`;
    const box = make("clipPath", { id: clip }, make("defs", {}, this.root));
    const { left, right, top, bottom } = MARGIN;
    make("rect", { x: left, y: top - 3, width: Math.max(0, width - left - right + 3), height: height - top - bottom + 6 }, box);
    const area = make("g", { "clip-path": `url(#${clip})` }, this.root);
    const order = [...this.lines].sort((a, b) => a.ours - b.ours);
    for (const line of order) this.band(line, area);
    if (this.spec.best) this.path(this.spec.best.t, this.spec.best.mean, { class: "best" }, area);
    for (const line of order) for (const limit of this.limits(line)) this.limit(line, limit, area);
    for (const line of order) this.curve(line, area);
    this.hover = make("g", { class: "hover" }, this.root);
    this.noteLimits();
  }

  usable(value) {
    return value !== null && value !== undefined && (!this.spec.log || value > 0);
  }

  scales() {
    const { log } = this.spec;
    const lines = this.lines;
    const last = Math.max(...this.spec.lines.map((line) => line.t.at(-1) || 1));
    const settled = log ? 0 : last / 20;
    const values = [];
    for (const line of lines) line.t.forEach((t, k) => {
      if (t < settled) return;
      for (const curve of log ? [line.mean] : [line.mean, line.low, line.high]) {
        if (curve && this.usable(curve[k])) values.push(curve[k]);
      }
    });
    if (this.spec.best && !log) this.spec.best.t.forEach((t, k) => {
      if (t >= settled && this.usable(this.spec.best.mean[k])) values.push(this.spec.best.mean[k]);
    });
    if (!values.length) values.push(log ? 1 : 0, log ? 10 : 1);
    let [low, high] = extremes(values);
    const room = high * (log ? 12 : 1.6);
    for (const line of lines) for (const limit of this.limits(line)) {
      const top = limit.values.findLast((value) => this.usable(value));
      if (top !== undefined && (this.state.whole || (top <= room && high > 0))) high = Math.max(high, top);
    }
    [low, high] = this.nice(low, high);
    const { width, height } = this.size;
    const first = log ? Math.min(...this.spec.lines.map((line) => this.begin(line))) : 0;
    this.x = new Scale(Math.min(first, last / 2), last, MARGIN.left, width - MARGIN.right, log);
    this.y = new Scale(low, high, height - MARGIN.bottom, MARGIN.top, log);
  }

  begin(line) {
    const k = line.mean.findIndex((value) => this.usable(value));
    return k < 0 ? Infinity : Math.max(1, line.t[k]);
  }

  nice(low, high) {
    if (this.spec.log) {
      const floor = Math.max(low, high / 1e6);
      return [floor / 1.15, high * 1.25];
    }
    if (low > 0 && low < 0.4 * high) low = 0;
    const pad = (high - low) * 0.05 || Math.abs(high) * 0.1 || 0.5;
    return [low === 0 ? 0 : low - pad, high + pad];
  }

  axes() {
    const { width, height } = this.size;
    const group = make("g", { class: "axes" }, this.root);
    const rows = this.y.ticks(5);
    for (const tick of rows) {
      const y = this.y.at(tick);
      const zero = Math.abs(tick) < 1e-12;
      make("line", { x1: MARGIN.left, x2: width - MARGIN.right, y1: y, y2: y, class: zero ? "zero" : "grid" }, group);
      make("text", { x: MARGIN.left - 7, y: y + 3.5, "text-anchor": "end", class: "y" }, group, tickText(tick, rows.at(-1)));
    }
    const floor = height - MARGIN.bottom;
    make("line", { x1: MARGIN.left, x2: width - MARGIN.right, y1: floor, y2: floor, class: "floor" }, group);
    const ticks = this.x.ticks(width < 420 ? 4 : 5);
    for (const tick of ticks) {
      const x = this.x.at(tick);
      make("line", { x1: x, x2: x, y1: floor, y2: floor + 4, class: "floor" }, group);
      const anchor = x > width - MARGIN.right - 12 ? "end" : "middle";
      make("text", { x: anchor === "end" ? width - MARGIN.right + 6 : x, y: floor + 17, "text-anchor": anchor }, group, tickText(tick, ticks.at(-1)));
    }
    if (this.spec.log) this.fan(group);
  }

  // Two short lines of slope 1/2 and 1, to compare the curves with.
  fan(group) {
    const run = 2.6;
    const x = MARGIN.left + 10;
    const step = (this.size.width - MARGIN.left - MARGIN.right) / Math.log(this.x.high / this.x.low);
    const rise = (this.size.height - MARGIN.top - MARGIN.bottom) / Math.log(this.y.high / this.y.low);
    const length = Math.min(run, 64 / step, 60 / rise);
    const y = MARGIN.top + 14 + length * rise;
    for (const [slope, text] of [[1, "t"], [0.5, "√t"]]) {
      const end = [x + length * step, y - slope * length * rise];
      make("line", { x1: x, y1: y, x2: end[0], y2: end[1], class: "fan" }, group);
      make("text", { x: end[0] + 4, y: end[1] + 4, class: "fan" }, group, text);
    }
  }

  points(t, values) {
    return t.map((when, k) => (this.usable(values[k]) && when >= this.x.low ? [this.x.at(when), this.y.at(values[k])] : null));
  }

  path(t, values, attributes, parent) {
    let pen = "M";
    let d = "";
    for (const point of this.points(t, values)) {
      if (point) d += `${pen}${point[0].toFixed(1)} ${clamp(point[1])}`;
      pen = point ? "L" : "M";
    }
    return make("path", { d, ...attributes }, parent);
  }

  marks(line, kind) {
    return { class: `series ${kind} c${line.slot % this.state.colours} ${line.ours ? "ours" : "baseline"}`, "data-i": line.i };
  }

  curve(line, parent) {
    const single = line.low ? "" : " single";
    const marks = this.marks(line, `curve${single}`);
    const dash = PATTERNS[Math.floor(line.slot / this.state.colours) % PATTERNS.length];
    this.path(line.t, line.mean, dash ? { ...marks, "stroke-dasharray": dash } : marks, parent);
  }

  limit(line, limit, parent) {
    this.path(line.t, limit.values, this.marks(line, `limit ${limit.kind}`), parent);
  }

  band(line, parent) {
    if (!line.low || this.spec.log) return;
    const low = this.points(line.t, line.low).filter(Boolean);
    const high = this.points(line.t, line.high).filter(Boolean).reverse();
    const corner = ([x, y]) => `${x.toFixed(1)} ${clamp(y)}`;
    const d = `M${[...low, ...high].map(corner).join("L")}Z`;
    if (low.length > 1) make("path", { d, ...this.marks(line, "band") }, parent);
  }

  // A note names the limits far above the curves, which the chart cuts off.
  noteLimits() {
    const beyond = [];
    for (const line of this.lines) for (const limit of this.limits(line)) {
      const end = limit.values.findLast((value) => this.usable(value));
      if (end > this.y.high) beyond.push(`${limit.kind} of ${line.name} (${shown(end, 3)})`);
    }
    const listed = beyond.slice(0, 3).join(", ") + (beyond.length > 3 ? ` and ${beyond.length - 3} more` : "");
    this.note.textContent = beyond.length ? `Above the chart: ${listed}.` : "";
  }

  point(event) {
    const box = this.root.getBoundingClientRect();
    const t = this.x.inverse(event.clientX - box.left);
    this.read(nearest(this.grid(), t), event.clientY - box.top);
  }

  key(event) {
    const grid = this.grid();
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: 10, PageDown: -10 }[event.key];
    if (event.key === "Escape") this.leave();
    if (!step || !grid.length) return;
    event.preventDefault();
    const from = this.cursor === undefined ? (step > 0 ? -1 : grid.length) : this.cursor;
    this.read(Math.max(0, Math.min(grid.length - 1, from + step)));
  }

  grid() {
    return this.lines.reduce((found, line) => (line.t.length > found.length ? line.t : found), []);
  }

  read(k, y) {
    const t = this.grid()[k];
    if (t === undefined || t < this.x.low) return;
    this.cursor = k;
    this.hover.replaceChildren();
    const x = this.x.at(t);
    make("line", { x1: x, x2: x, y1: MARGIN.top, y2: this.size.height - MARGIN.bottom }, this.hover);
    let readings = this.lines.map((line) => {
      const j = nearest(line.t, t);
      const value = line.mean[j];
      const half = line.high && line.high[j] !== null ? line.high[j] - value : null;
      return { line, value, half, near: this.usable(value) ? Math.abs(this.y.at(value) - (y ?? 0)) : Infinity };
    }).filter(({ value }) => value !== null && value !== undefined);
    const left = readings.length - MOST_READINGS;
    if (left > 0) readings = readings.sort((a, b) => a.near - b.near).slice(0, MOST_READINGS);
    readings.sort((a, b) => b.value - a.value);
    for (const { line, value } of readings) {
      if (!this.usable(value) || value > this.y.high || value < this.y.low) continue;
      make("circle", { cx: x, cy: this.y.at(value), r: 3, class: `c${line.slot % this.state.colours}` }, this.hover);
    }
    this.showTip(t, x, readings, left);
  }

  showTip(t, x, readings, left) {
    this.tip.replaceChildren();
    make("p", {}, this.tip, `Round ${t.toLocaleString("en")}`);
    const table = make("table", {}, this.tip);
    for (const { line, value, half } of readings) {
      const row = make("tr", { "data-i": line.i }, table);
      const name = make("th", {}, row);
      make("i", { class: `swatch c${line.slot % this.state.colours} p${Math.floor(line.slot / this.state.colours)}` }, name);
      name.append(line.name);
      make("td", {}, row, shown(value));
      make("td", { class: "half" }, row, half === null ? "" : `± ${shown(half, 2)}`);
    }
    const best = this.spec.best;
    const floor = best && best.mean[nearest(best.t, t)];
    if (floor !== null && floor !== undefined) {
      const row = make("tr", { class: "floor" }, table);
      make("th", {}, row, "best policy");
      make("td", {}, row, shown(floor));
    }
    if (left > 0) make("p", {}, this.tip, `and ${left} more`);
    this.tip.hidden = false;
    const width = this.tip.offsetWidth;
    // On a narrow screen the tip is below the curves, not on them.
    const narrow = this.size.width < 480;
    const sideways = this.size.width - x > width + 16 ? x + 12 : x - width - 12;
    const place = narrow ? x - width / 2 : sideways;
    this.tip.style.left = `${Math.max(0, Math.min(place, this.size.width - width))}px`;
    this.tip.style.top = narrow ? `${this.size.height}px` : "";
  }

  leave() {
    this.cursor = undefined;
    this.tip.hidden = true;
    if (this.hover) this.hover.replaceChildren();
  }
}

function extremes(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

// Some browsers do not draw a path with points far outside the chart.
function clamp(y) {
  return Math.max(-4000, Math.min(4000, y)).toFixed(1);
}

function nearest(sorted, value) {
  let best = 0;
  sorted.forEach((entry, k) => {
    if (Math.abs(entry - value) < Math.abs(sorted[best] - value)) best = k;
  });
  return best;
}
