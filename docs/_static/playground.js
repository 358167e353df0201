"use strict";
// The playground: recorded runs, shown round by round. `_site/playground.py` records them.

(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const START = { adversary: "LeaderPunisher", learner: "ContextFTPL", round: 60 };
  const PAUSE = 400; // milliseconds per round while it plays
  const SETTLED = 250; // milliseconds without a move before the address changes
  const MARGIN = { top: 14, right: 60, bottom: 40, left: 44 };
  const BLOCK = 20; // rounds that share a scale, so that bars do not jump while rounds pass
  const STEPS = [5, 10, 20, 40, 60, 80, 100, 150, 200, 250, 300, 400, 600, 1000];
  const ICONS = {
    play: "M5 3 L14 9 L5 15 Z",
    pause: "M4 3 H7.5 V15 H4 Z M10.5 3 H14 V15 H10.5 Z",
    back: "M12 3 L5 9 L12 15 Z",
    forward: "M6 3 L13 9 L6 15 Z",
  };
  const COLUMNS = {
    action: "Action",
    bar: "",
    total: "Total so far",
    noise: "Noise",
    noisy: "With noise",
    probability: "Probability",
    copies: "Copies",
    loss: "Loss",
  };

  // Elements ----------------------------------------------------------------------------------

  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null) node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  }

  function draw(tag, attributes, parent, text) {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    if (parent) parent.append(node);
    return node;
  }

  function icon(name) {
    const root = draw("svg", { viewBox: "0 0 18 18", width: 18, height: 18, "aria-hidden": "true" });
    draw("path", { d: ICONS[name], fill: "currentColor" }, root);
    return root;
  }

  // Numbers and words -------------------------------------------------------------------------

  function number(value, decimals = 0) {
    const text = value.toLocaleString("en", {
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    });
    return text === `-${(0).toFixed(decimals)}` ? text.slice(1) : text.replace("-", "−");
  }

  function signed(value, decimals) {
    const text = number(value, decimals);
    return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
  }

  // A probability that is nearly 0 or 1 is not shown as 0 or 1.
  function chance(value) {
    if (value > 0 && value < 0.005) return "<0.01";
    if (value < 1 && value >= 0.995) return ">0.99";
    return value.toFixed(2);
  }

  function list(words) {
    if (words.length < 2) return words.join("");
    return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
  }

  function least(values) {
    const low = Math.min(...values);
    return values.flatMap((value, k) => (value === low ? [k] : []));
  }

  function above(value) {
    return STEPS.find((step) => step >= value) ?? Math.ceil(value / 500) * 500;
  }

  // Records -----------------------------------------------------------------------------------

  // One recorded run; rounds count from 1.
  class Run {
    constructor(data, adversary, learner) {
      Object.assign(this, { data, adversary, learner }, data.games[adversary][learner]);
      this.count = data.names.length;
      this.observesAll = this.feedback === "full";
      this.before = [new Array(this.count).fill(0)]; // totals before each round, and at the end
      this.losses.forEach((digits, k) => {
        this.before.push(this.before[k].map((total, a) => total + Number(digits[a])));
      });
      this.whole = this.scalesFromZero();
      this.near = this.scalesNearLeader();
    }

    scalesFromZero() {
      let [low, high] = [0, 1];
      return this.losses.map((_, k) => {
        const ends = this.ends(k + 1).flat();
        low = Math.min(low, ...ends);
        high = Math.max(high, ...ends);
        return [low < 0 ? -above(-low) : 0, above(high)];
      });
    }

    // Scales on which one sees who leads: without the actions that are far behind.
    scalesNearLeader() {
      const scales = [];
      for (let k = 0; k < this.losses.length; k += BLOCK) {
        const rounds = this.losses.slice(k, k + BLOCK).map((_, j) => k + j + 1);
        const reach = this.noise ? Math.max(...rounds.flatMap((round) => this.noise[round - 1].map(Math.abs))) : 0;
        const ends = rounds.flatMap((round) => {
          const limit = Math.min(...this.totals(round)) + Math.max(10, 2 * reach);
          return this.ends(round).filter(([total]) => total <= limit).flat();
        });
        const low = Math.floor(Math.min(...ends) / 5) * 5;
        const high = Math.ceil(Math.max(...ends, 5) / 5) * 5;
        for (const _ of rounds) scales.push([low > 10 ? low : Math.min(low, 0), high]);
      }
      return scales;
    }

    // The total of each action, and its total with noise if there is noise.
    ends(round) {
      const totals = this.totals(round);
      const noisy = this.noise && this.noisy(round);
      return totals.map((total, a) => (noisy ? [total, noisy[a]] : [total]));
    }

    action(round) {
      return Number(this.actions[round - 1]);
    }

    totals(round) {
      return this.before[round - 1];
    }

    noisy(round) {
      return this.totals(round).map((total, a) => total + this.noise[round - 1][a]);
    }

    loss(round, action) {
      return Number(this.losses[round - 1][action]);
    }

    answers(round, action) {
      return Number(this.copies[round - 1][action]);
    }

    // The predictor's recommendation, if the learner may follow it.
    hint(round) {
      const [action, share] = this.hints ? this.hints[round - 1] : [null, 0];
      return action === null || share < 0.005 ? null : { action, share };
    }

    name(action) {
      return this.data.names[action];
    }

    names(actions) {
      return list(actions.map((action) => this.name(action)));
    }

    // The story of a round in words ---------------------------------------------------------

    story(round) {
      const text = `${this.decision(round)} ${this.reveal(round)} ${this.outcome(round)}`;
      return this.restarts.includes(round) ? `${text} It detected drift and restarted.` : text;
    }

    decision(round) {
      const played = this.name(this.action(round));
      const first = least(this.totals(round));
      const tie = first.length > 1;
      const leads = tie ? `${this.names(first)} share the smallest total` : `${this.names(first)} has the smallest total`;
      if (this.learner === "ContextFTPL") {
        if (this.noise[round - 1].every((value) => value === 0)) {
          const rule = tie ? `, and the learner played ${played}, the first of them` : `, so the learner played ${played}`;
          return `Round ${round}: there is no noise yet. ${leads}${rule}.`;
        }
        if (!first.includes(this.action(round))) {
          return `Round ${round}: ${leads}, but the noise made ${played} the leader, so the learner played ${played}.`;
        }
        const still = tie ? `the noise made ${played} the leader` : `${played} also leads with noise`;
        return `Round ${round}: ${leads}, and ${still}, so the learner played ${played}.`;
      }
      if (this.learner === "FollowTheLeader") {
        const rule = tie ? `, and the learner played ${played}, the first of them` : `, so the learner played ${played}`;
        return `Round ${round}: ${leads}${rule}.`;
      }
      if (this.learner === "hn.bandit") {
        const q = this.probabilities[round - 1][this.action(round)];
        const hint = this.hint(round);
        const sampled = `Round ${round}: the learner sampled ${played}, which had probability ${chance(q)}.`;
        if (!hint) return sampled;
        return `${sampled} Its predictor recommended ${this.name(hint.action)}, and the learner follows this recommendation with probability ${chance(hint.share)}.`;
      }
      return `Round ${round}: ${played} had the lowest confidence bound of the loss, so the learner played ${played}.`;
    }

    reveal(round) {
      const costly = [...this.data.names].flatMap((_, a) => (this.loss(round, a) ? [a] : []));
      if (this.adversary === "Bait") {
        const { bait, turn } = this.data;
        const part = round <= turn
          ? `The bait, ${this.name(bait)}, has large losses until round ${turn}.`
          : `The bait, ${this.name(bait)}, has had small losses since round ${turn + 1}.`;
        return `${costly.length ? `The adversary gave loss 1 to ${this.names(costly)}.` : "The adversary gave loss 0 to all actions."} ${part}`;
      }
      const target = this.target(round);
      const others = costly.filter((action) => action !== target);
      const chanced = others.length ? `, and by chance to ${this.names(others)}` : "";
      const gave = `loss 1 to ${this.name(target)}`;
      if (this.adversary === "LeaderPunisher") {
        const tie = least(this.totals(round)).length > 1;
        const who = `the ${tie ? "first " : ""}leader${this.noise ? " without noise" : ""}`;
        return `The adversary gave ${gave}, ${who}${chanced}.`;
      }
      const most = this.answers(round, target);
      const all = [...this.copies[round - 1]].reduce((sum, n) => sum + Number(n), 0);
      const tied = [...this.copies[round - 1]].filter((n) => Number(n) === most).length > 1;
      const rule = tied ? ", the first of the most frequent answers" : "";
      return `Of ${all} copies of the learner, ${most} would have played ${this.name(target)}${rule}, so the adversary gave ${gave}${chanced}.`;
    }

    // The action that the adversary punishes in this round.
    target(round) {
      if (this.adversary === "LeaderPunisher") return least(this.totals(round))[0];
      const answers = [...this.copies[round - 1]].map(Number);
      return answers.indexOf(Math.max(...answers));
    }

    outcome(round) {
      const loss = this.loss(round, this.action(round));
      const saw = this.observesAll ? "" : ", and it observed only this loss";
      return `The learner's loss was ${loss}${saw}.`;
    }

    // The regret bound in words, and whether it fits into a chart.
    about(round) {
      if (!this.bound) return `No bound holds for ${this.learner}: ${this.data.noBound[this.learner]}.`;
      const now = this.bound[round - 1];
      if (now <= round) return "The bound holds for the expected regret, against any adversary.";
      const loose = this.data.looseBound[this.learner];
      const trivial = `The bound is larger than the number of rounds so far, so it does not limit the regret yet.`;
      return loose ? `${trivial} ${loose}` : trivial;
    }
  }

  // The view ----------------------------------------------------------------------------------

  class Playground {
    constructor(root, data) {
      Object.assign(this, { root, data, timer: null, saving: null });
      this.runs = {};
      for (const adversary of Object.keys(data.games)) {
        for (const learner of Object.keys(data.games[adversary])) {
          this.runs[`${adversary}/${learner}`] = new Run(data, adversary, learner);
        }
      }
      const all = Object.values(this.runs);
      const bounds = all.flatMap((run) => (run.bound && run.bound.at(-1) < data.rounds ? run.bound : []));
      const ends = all.flatMap((run) => run.regret).concat(bounds);
      this.low = Math.floor(Math.min(0, ...ends) / 20) * 20; // one scale for all runs
      this.high = Math.ceil(Math.max(...ends) / 20) * 20;
      this.build();
      for (const link of document.querySelectorAll("a[data-round]")) link.href = `#${link.dataset.round}`;
      this.read();
      window.addEventListener("hashchange", () => this.read());
      document.addEventListener("keydown", (event) => this.key(event));
      new ResizeObserver(() => this.drawChart()).observe(this.plot);
    }

    get run() {
      return this.runs[`${this.adversary}/${this.learner}`];
    }

    // State and address -----------------------------------------------------------------------

    read() {
      const [adversary, learner, text] = decodeURIComponent(location.hash.slice(1)).split("/");
      const known = `${adversary}/${learner}` in this.runs;
      const given = known ? { adversary, learner, round: /^\d+$/.test(text) ? Number(text) : 1 } : START;
      if (!known && this.adversary) return; // another link of the page, such as a heading
      this.stop();
      this.choose(given.adversary, given.learner, given.round);
      if (known) this.root.scrollIntoView();
    }

    save() {
      clearTimeout(this.saving);
      this.saving = setTimeout(() => {
        const hash = `#${this.adversary}/${this.learner}/${this.round}`;
        if (location.hash !== hash) history.replaceState(null, "", hash);
      }, SETTLED);
    }

    choose(adversary, learner, round = this.round) {
      Object.assign(this, { adversary, learner });
      for (const button of this.root.querySelectorAll("button[data-value]")) {
        const chosen = button.dataset.value === this[button.dataset.kind];
        button.setAttribute("aria-pressed", String(chosen));
      }
      this.aboutAdversary.textContent = this.data.adversaries[adversary];
      this.aboutLearner.textContent = this.data.learners[learner];
      this.buildTable();
      this.move(round);
    }

    move(round) {
      this.round = Math.max(1, Math.min(this.data.rounds, round));
      this.show();
    }

    // Build -----------------------------------------------------------------------------------

    build() {
      this.aboutAdversary = make("p", { class: "pg-about", id: "pg-about-adversary" });
      this.aboutLearner = make("p", { class: "pg-about", id: "pg-about-learner" });
      this.sentence = make("p", { class: "pg-story", "aria-live": "polite" });
      this.table = make("table", { class: "pg-table", role: "table" });
      this.legend = make("p", { class: "pg-key" });
      this.zero = make("input", { type: "checkbox", id: "pg-zero" });
      this.zero.addEventListener("change", () => this.show());
      this.plot = make("div", { class: "pg-plot" });
      this.reading = make("p", { class: "pg-reading" });
      this.note = make("p", { class: "pg-note" });
      this.caption = make("p", { class: "pg-caption", id: "pg-caption-table" });
      this.regretCaption = make("p", { class: "pg-caption" });
      this.root.replaceChildren(
        make("div", { class: "pg-choices" },
          this.choices("Adversary", "adversary", Object.keys(this.data.adversaries), this.aboutAdversary),
          this.choices("Learner", "learner", Object.keys(this.data.learners), this.aboutLearner)),
        this.controls(),
        this.sentence,
        make("div", { class: "pg-part" }, this.caption, this.table, this.legend,
          make("label", { class: "pg-check" }, this.zero, " Start the scale at 0")),
        make("div", { class: "pg-part" }, this.regretCaption, this.plot, this.reading, this.note),
      );
      const point = (event) => {
        if (event.buttons !== 1 || !this.x) return;
        const box = this.plot.getBoundingClientRect();
        const share = (event.clientX - box.left - MARGIN.left) / (box.width - MARGIN.left - MARGIN.right);
        this.stop();
        this.move(Math.round(share * this.data.rounds));
      };
      this.plot.addEventListener("pointerdown", point);
      this.plot.addEventListener("pointermove", point);
    }

    choices(label, kind, values, about) {
      const group = make("div", { class: "pg-buttons", role: "group", "aria-label": label });
      for (const value of values) {
        const button = make("button", { type: "button", "data-kind": kind, "data-value": value,
          "aria-pressed": "false", "aria-describedby": about.id }, value);
        button.addEventListener("click", () => {
          this.choose(kind === "adversary" ? value : this.adversary, kind === "learner" ? value : this.learner);
        });
        group.append(button);
      }
      return make("div", { class: "pg-choice" }, make("span", { class: "pg-label" }, label), group, about);
    }

    controls() {
      const button = (name, label, act) => {
        const made = make("button", { type: "button", class: `pg-${name}`, "aria-label": label, title: label }, icon(name));
        made.addEventListener("click", act);
        return made;
      };
      this.slider = make("input", { type: "range", min: 1, max: this.data.rounds, step: 1, id: "pg-slider" });
      this.slider.addEventListener("input", () => {
        this.stop();
        this.move(Number(this.slider.value));
      });
      this.place = make("label", { for: "pg-slider", class: "pg-place" });
      this.player = button("play", "Play", () => (this.timer ? this.stop() : this.start()));
      const step = (by) => () => {
        this.stop();
        this.move(this.round + by);
      };
      return make("div", { class: "pg-controls", role: "group", "aria-label": "Rounds" },
        button("back", "One round back", step(-1)), this.player, button("forward", "One round forward", step(1)),
        this.place, this.slider);
    }

    buildTable() {
      const { run } = this;
      this.columns = Object.keys(COLUMNS).filter((name) => {
        if (name === "noise" || name === "noisy") return run.noise;
        return name === "copies" ? run.copies : true;
      });
      const heads = this.columns.map((name) => make("th", { scope: "col", role: "columnheader", class: `pg-${name}` }, COLUMNS[name]));
      this.cells = [...this.data.names].map((name) => {
        const cells = {};
        for (const column of this.columns) {
          const first = column === "action";
          cells[column] = make(first ? "th" : "td", { class: `pg-${column}`, "data-of": column,
            "data-label": COLUMNS[column] || null, role: first ? "rowheader" : "cell", scope: first ? "row" : null,
            "aria-hidden": column === "bar" ? "true" : null });
        }
        cells.row = make("tr", { role: "row", "data-action": name }, ...this.columns.map((column) => cells[column]));
        return cells;
      });
      this.axis = make("td", { class: "pg-bar" });
      const foot = this.columns.map((column) => (column === "bar" ? this.axis : make("td")));
      this.table.replaceChildren(
        make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, ...heads)),
        make("tbody", { role: "rowgroup" }, ...this.cells.map((cells) => cells.row)),
        make("tfoot", { "aria-hidden": "true" }, make("tr", {}, ...foot)),
      );
      this.table.setAttribute("aria-labelledby", this.caption.id);
      const swatch = (kind, text) => make("span", { class: "pg-entry" }, make("i", { class: `pg-swatch ${kind}` }), text);
      this.legend.replaceChildren(swatch("pg-real", "total loss so far"),
        ...(run.noise ? [swatch("pg-fake", "noise"), swatch("pg-end", "total with noise")] : []));
      if (!run.observesAll) this.legend.append("You see all losses here. The learner observes the loss of the chosen action only.");
    }

    // Show a round ----------------------------------------------------------------------------

    show() {
      const { run, round } = this;
      this.slider.value = round;
      this.slider.setAttribute("aria-valuetext", `Round ${round} of ${this.data.rounds}`);
      this.place.textContent = `Round ${round} of ${this.data.rounds}`;
      this.sentence.textContent = run.story(round);
      this.caption.textContent = `Round ${round}: totals before the decision, losses after it`;
      const totals = run.totals(round);
      const leaders = least(totals);
      const noisy = run.noise && run.noisy(round);
      const hint = run.hint(round);
      this.cells.forEach((cells, a) => {
        const played = run.action(round) === a;
        cells.row.classList.toggle("pg-row-played", played);
        const tag = (text, kind = "pg-tag") => make("span", { class: kind }, text);
        const notes = [];
        const leads = leaders.includes(a);
        if (noisy && leads && played) notes.push(tag("leader with and without noise"));
        else if (noisy && leads) notes.push(tag("leader without noise"));
        else if (noisy && played) notes.push(tag("leader with noise"));
        else if (leads) notes.push(tag("leader"));
        if (hint && hint.action === a) notes.push(tag("recommended"));
        cells.action.replaceChildren(
          make("span", { class: "pg-name" }, make("b", {}, run.name(a)), ...(played ? [tag("played", "pg-tag pg-played")] : [])),
          make("span", { class: "pg-notes" }, ...notes));
        cells.total.textContent = number(totals[a]);
        if (noisy) {
          cells.noise.textContent = signed(run.noise[round - 1][a], 1);
          cells.noisy.textContent = number(noisy[a], 1);
        }
        const q = run.probabilities[round - 1][a];
        const level = make("span", { class: "pg-chance", "aria-hidden": "true" });
        level.style.width = `${100 * q}%`;
        cells.probability.replaceChildren(chance(q), make("span", { class: "pg-chances", "aria-hidden": "true" }, level));
        if (run.copies) cells.copies.textContent = number(run.answers(round, a));
        const loss = run.loss(round, a);
        const box = make("span", { class: `pg-loss-${loss}` }, String(loss));
        const hidden = !run.observesAll && !played;
        cells.loss.replaceChildren(box, ...(hidden ? [make("small", {}, " not observed")] : []));
        cells.bar.replaceChildren(...this.bar(totals[a], noisy && noisy[a]));
      });
      this.showAxis();
      this.showRegret();
      this.save();
    }

    get scale() {
      return (this.zero.checked ? this.run.whole : this.run.near)[this.round - 1];
    }

    share(value) {
      const [low, high] = this.scale;
      return (100 * (value - low)) / (high - low);
    }

    bar(total, noisy) {
      const low = this.scale[0];
      const span = (kind, from, to) => {
        const ends = [this.share(from), this.share(to)].sort((a, b) => a - b);
        const [left, right] = ends.map((end) => Math.max(0, Math.min(100, end)));
        const node = make("span", { class: kind });
        if (ends[0] < 0) node.classList.add("pg-cut-left");
        if (ends[1] > 100) node.classList.add("pg-cut-right");
        node.style.left = `${left}%`;
        node.style.width = `${right - left}%`;
        return node;
      };
      const parts = [span("pg-real", 0, total)];
      if (low <= 0) parts.unshift(span("pg-origin", 0, 0));
      const given = noisy !== null && noisy !== undefined;
      if (given && this.share(Math.min(total, noisy)) < 100) parts.push(span("pg-fake", total, noisy));
      if (given && this.share(noisy) <= 100) parts.push(span("pg-end", noisy, noisy));
      return [make("div", { class: "pg-track" }, ...parts)];
    }

    showAxis() {
      const [low, high] = this.scale;
      const rough = (high - low) / 5;
      const power = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 5, 10].map((m) => m * power).find((each) => each >= rough * 0.999);
      const ticks = [];
      for (let k = Math.ceil(low / step); k * step <= high; k += 1) {
        const tick = make("span", {}, number(k * step));
        tick.style.left = `${this.share(k * step)}%`;
        ticks.push(tick);
      }
      this.axis.replaceChildren(make("div", { class: "pg-ticks" }, ...ticks));
    }

    // The chart of regret ---------------------------------------------------------------------

    drawChart() {
      const width = this.plot.clientWidth;
      if (!width || !this.run) return;
      const height = width < 500 ? 220 : 260;
      const root = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img" });
      const [left, right, top, floor] = [MARGIN.left, width - MARGIN.right, MARGIN.top, height - MARGIN.bottom];
      this.x = (round) => left + (round / this.data.rounds) * (right - left);
      this.y = (value) => floor - ((value - this.low) / (this.high - this.low)) * (floor - top);
      for (let tick = Math.ceil(this.low / 40) * 40; tick <= this.high; tick += 40) {
        const y = this.y(tick);
        draw("line", { x1: left, x2: right, y1: y, y2: y, class: tick ? "pg-grid" : "pg-axis" }, root);
        draw("text", { x: left - 7, y: y + 4, "text-anchor": "end" }, root, number(tick));
      }
      for (let tick = 0; tick <= this.data.rounds; tick += 40) {
        const x = this.x(tick);
        draw("line", { x1: x, x2: x, y1: floor, y2: floor + 4, class: "pg-axis" }, root);
        draw("text", { x, y: floor + 17, "text-anchor": "middle" }, root, number(tick));
      }
      draw("text", { x: (left + right) / 2, y: floor + 34, "text-anchor": "middle" }, root, "round");
      this.later = draw("g", { class: "pg-later" }, root);
      this.sofar = draw("g", {}, root);
      this.cursor = draw("g", { class: "pg-cursor" }, root);
      this.labels = draw("g", {}, root);
      this.svg = root;
      this.drawn = null;
      this.plot.replaceChildren(root);
      this.showRegret();
    }

    path(values, until) {
      const points = values.slice(0, until).map((value, k) => [this.x(k + 1), this.y(value)]);
      const inside = points.filter(([, y]) => y >= this.y(this.high) - 0.5);
      return inside.map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
    }

    showRegret() {
      const { run, round } = this;
      const now = run.regret[round - 1];
      const bound = run.bound && run.bound[round - 1];
      const end = run.bound && run.bound.at(-1);
      this.regretCaption.textContent = `Regret after round ${round}`;
      this.reading.replaceChildren(
        make("span", { "data-of": "regret" }, make("i", { class: "pg-swatch pg-line-regret" }), "regret ", make("b", {}, number(now))),
        make("span", { "data-of": "bound" }, ...(run.bound
          ? [make("i", { class: "pg-swatch pg-line-bound" }), "regret bound ", make("b", {}, number(bound, 1))]
          : [make("b", {}, "no bound")])),
      );
      this.note.textContent = run.about(round) + (end && end > this.high ? " It lies above the chart." : "");
      if (!this.svg) return;
      const key = `${this.adversary}/${this.learner}`;
      if (this.drawn !== key) {
        this.drawn = key;
        this.later.replaceChildren();
        this.labels.replaceChildren();
        draw("path", { d: this.path(run.regret), class: "pg-regret" }, this.later);
        const places = [[this.y(run.regret.at(-1)), "regret"]];
        if (run.bound) draw("path", { d: this.path(run.bound), class: "pg-bound" }, this.later);
        if (run.bound && end <= this.high) places.push([this.y(end), "bound"]);
        if (places.length > 1 && Math.abs(places[0][0] - places[1][0]) < 14) {
          const middle = (places[0][0] + places[1][0]) / 2;
          const down = places[0][0] >= places[1][0] ? 7 : -7;
          [places[0][0], places[1][0]] = [middle + down, middle - down];
        }
        for (const [y, name] of places) {
          draw("text", { x: this.x(this.data.rounds) + 6, y: y + 4, class: `pg-name-${name}` }, this.labels, name);
        }
      }
      this.sofar.replaceChildren();
      if (run.bound) draw("path", { d: this.path(run.bound, round), class: "pg-bound" }, this.sofar);
      draw("path", { d: this.path(run.regret, round), class: "pg-regret" }, this.sofar);
      this.cursor.replaceChildren();
      const x = this.x(round);
      draw("line", { x1: x, x2: x, y1: this.y(this.high), y2: this.y(this.low) }, this.cursor);
      if (run.bound && bound <= this.high) draw("circle", { cx: x, cy: this.y(bound), r: 4, class: "pg-dot-bound" }, this.cursor);
      draw("circle", { cx: x, cy: this.y(now), r: 4.5, class: "pg-dot-regret" }, this.cursor);
      const limit = run.bound ? `the regret bound is ${number(bound, 1)}` : "there is no regret bound";
      this.svg.setAttribute("aria-label", `Chart of regret over ${this.data.rounds} rounds. After round ${round} the regret is ${number(now)}, and ${limit}.`);
    }

    // Time and keys ---------------------------------------------------------------------------

    start() {
      if (this.round === this.data.rounds) this.move(1);
      this.sentence.setAttribute("aria-live", "off"); // else a reader would hear every round
      this.timer = setInterval(() => {
        this.move(this.round + 1);
        if (this.round === this.data.rounds) this.stop();
      }, PAUSE);
      this.label("pause", "Pause");
    }

    stop() {
      if (!this.timer) return;
      clearInterval(this.timer);
      this.timer = null;
      this.sentence.setAttribute("aria-live", "polite");
      this.label("play", "Play");
    }

    label(name, text) {
      this.player.replaceChildren(icon(name));
      this.player.setAttribute("aria-label", text);
      this.player.title = text;
    }

    key(event) {
      const { target } = event;
      const mine = target === document.body || this.root.contains(target);
      const typing = target instanceof Element && target.matches("input, select, textarea");
      if (!mine || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      const by = event.shiftKey ? 10 : 1;
      const to = { ArrowLeft: this.round - by, ArrowRight: this.round + by }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      this.stop();
      this.move(to);
    }
  }

  const root = document.getElementById("playground-view");
  if (!root) return;
  if (window.hannanPlayground) new Playground(root, window.hannanPlayground);
  else root.replaceChildren(make("p", {}, "The recorded runs are missing. Build the site with `make docs`, which records them."));
})();
