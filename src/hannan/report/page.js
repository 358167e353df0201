// The page: a legend and charts for each environment, and the switch between light and dark.

const DATA = JSON.parse(document.getElementById("data").textContent);

const CHARTS = {
  loss: (series) => ({ ...series.loss, limits: [] }),
  regret: (series) => ({ ...series.regret, limits: limitsOf(series) }),
  growth: (series) => ({ ...series.regret, limits: limitsOf(series) }),
};

function limitsOf(series) {
  return ["bound", "certificate"].filter((kind) => series[kind]).map((kind) => ({ kind, values: series[kind] }));
}

class Section {
  constructor(root, data) {
    Object.assign(this, { root, data });
    this.state = { hidden: new Set(), baselines: true, bound: true, certificate: true, whole: false, colours: DATA.colours };
    this.charts = [...root.querySelectorAll(".chart")].map((figure) => this.chart(figure));
    this.legend(root.querySelector(".legend"));
    const growth = root.querySelector("[data-kind=growth]");
    if (growth) this.exponents(make("div", { class: "legend exponents", role: "group", "aria-label": "Fitted growth" }, growth));
    const strips = root.querySelector(".strips");
    if (strips && data.strips) drawStrips(strips, data.strips, DATA.colours);
  }

  chart(figure) {
    const { kind } = figure.dataset;
    const from = kind === "loss" ? "loss" : "regret";
    const lines = this.data.series.flatMap((series, i) => (series[from]
      ? [{ i, name: series.learner, slot: series.slot, ours: series.ours, t: series.t, ...CHARTS[kind](series) }] : []));
    const best = kind === "loss" && this.data.best ? { t: this.data.series[0].t, mean: this.data.best } : null;
    const label = figure.querySelector("h3").textContent;
    const id = `${this.root.dataset.index}-${kind}`;
    return new Chart(figure, { id, lines, best, log: kind === "growth", label }, this.state);
  }

  legend(place) {
    this.data.series.forEach((series, i) => this.item(place, series, i));
    if (this.data.best) {
      const entry = make("span", { class: "constant" }, place);
      make("i", { class: "swatch dotted" }, entry);
      entry.append(this.data.best_name);
    }
    const has = (kind) => this.data.series.some((series) => series[kind]);
    const switches = make("span", { class: "switches" }, place);
    const baselines = this.data.series.flatMap((series, i) => (series.ours ? [] : [i]));
    if (baselines.length && baselines.length < this.data.series.length) {
      this.switch(switches, "baselines", "baselines", (on) => baselines.forEach((i) => this.show(i, on)));
    }
    if (has("bound")) this.switch(switches, "bound", "bounds");
    if (has("certificate")) this.switch(switches, "certificate", "certificates");
    if (has("bound") || has("certificate")) this.switch(switches, "whole", "full height");
  }

  item(place, series, i) {
    const button = make("button", { type: "button", "aria-pressed": "true", "data-i": i, class: series.ours ? "ours" : "baseline" }, place);
    make("i", { class: `swatch c${series.slot % DATA.colours} p${Math.floor(series.slot / DATA.colours)}` }, button);
    button.append(series.learner);
    button.addEventListener("click", () => this.toggle(i));
    for (const [event, focus] of [["pointerenter", i], ["focus", i], ["pointerleave", null], ["blur", null]]) {
      button.addEventListener(event, () => this.focus(focus));
    }
    return button;
  }

  exponents(place) {
    this.data.series.forEach((series, i) => {
      if (!series.regret) return;
      const button = this.item(place, series, i);
      const power = make("span", { class: "power" }, button);
      if (series.exponent === null) power.textContent = "no power fits";
      else {
        make("i", {}, power, "t");
        make("sup", {}, power, series.exponent.toFixed(2).replace("-", "−"));
      }
    });
  }

  switch(place, name, text, then) {
    const button = make("button", { type: "button", "aria-pressed": String(this.state[name]), "data-switch": name }, place);
    if (name === "bound" || name === "certificate") make("i", { class: `swatch ${name}` }, button);
    button.append(text);
    button.addEventListener("click", () => {
      this.state[name] = !this.state[name];
      button.setAttribute("aria-pressed", String(this.state[name]));
      if (then) then(this.state[name]);
      this.draw();
    });
  }

  toggle(i) {
    this.show(i, this.state.hidden.has(i));
    this.draw();
    this.focus(null);
  }

  show(i, on) {
    const { hidden } = this.state;
    if (on) hidden.delete(i);
    else hidden.add(i);
    for (const button of this.root.querySelectorAll(`button[data-i="${i}"]`)) {
      button.setAttribute("aria-pressed", String(on));
    }
  }

  focus(i) {
    const lit = i !== null && !this.state.hidden.has(i);
    for (const node of this.root.querySelectorAll(".series")) {
      node.classList.toggle("dim", lit && Number(node.dataset.i) !== i);
    }
  }

  draw() {
    for (const chart of this.charts) chart.draw();
  }
}

const sections = [...document.querySelectorAll(".environment")].map((root) => new Section(root, DATA.sections[root.dataset.index]));
let width = 0;
function drawAll() {
  if (document.body.clientWidth === width) return;
  width = document.body.clientWidth;
  for (const section of sections) section.draw();
}
drawAll();
new ResizeObserver(() => requestAnimationFrame(drawAll)).observe(document.body);

const dark = matchMedia("(prefers-color-scheme: dark)");
document.getElementById("theme").addEventListener("click", () => {
  const { dataset } = document.documentElement;
  const now = dataset.theme || (dark.matches ? "dark" : "light");
  dataset.theme = now === "dark" ? "light" : "dark";
});

// Folded charts have no width until the reader opens them.
document.querySelector(".specialists")?.addEventListener("toggle", () => sections.forEach((section) => section.draw()));

addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
