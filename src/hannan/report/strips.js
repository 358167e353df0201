// The best policy over time: a row for each learner, with a lane for each seed.

function drawStrips(figure, data, colours) {
  const tip = make("div", { class: "tip", role: "status", hidden: "" });
  const paint = (policy) => (policy >= 0 && policy < data.coloured ? `var(--policy-${policy})` : "var(--other)");
  for (const row of data.rows) {
    const holder = make("div", { class: "strip" }, figure);
    make("span", { title: row.learners.join(", ") }, holder, caption(row.learners));
    const lanes = row.lanes.length;
    const thick = lanes > 4 ? 6 : lanes > 1 ? 8 : 16;
    const root = make("svg", {
      viewBox: `0 0 ${data.end} ${lanes}`, preserveAspectRatio: "none", height: lanes * thick,
      role: "img", "aria-label": description(row, data), tabindex: "0",
    }, holder);
    for (const [policy, d] of paths(row.lanes, data)) {
      make("path", { d, style: `fill:${paint(policy)}`, "data-policy": policy }, root);
    }
    root.addEventListener("pointermove", (event) => {
      const box = root.getBoundingClientRect();
      const lane = row.lanes[Math.min(lanes - 1, Math.max(0, Math.floor(((event.clientY - box.top) / box.height) * lanes)))];
      const t = Math.min(data.end - 1, ((event.clientX - box.left) / box.width) * data.end);
      showTip(tip, figure, event, reading(lane, t, data));
    });
    root.addEventListener("pointerleave", () => { tip.hidden = true; });
  }
  rounds(figure, data.end);
  key(figure, data, paint);
  figure.append(tip);
}

function caption(learners) {
  return learners.length <= 2 ? learners.join(", ") : `${learners[0]} and ${learners.length - 1} more`;
}

function paths(lanes, data) {
  const found = new Map();
  lanes.forEach(({ intervals }, lane) => intervals.forEach(([start, policy], k) => {
    const end = k + 1 < intervals.length ? intervals[k + 1][0] : data.end;
    const colour = policy < data.coloured ? policy : data.coloured;
    const gap = lanes.length > 1 ? 0.1 : 0;
    const d = `M${start} ${lane + gap}H${end}V${lane + 1 - gap}H${start}Z`;
    found.set(colour, (found.get(colour) || "") + d);
  }));
  return found;
}

function reading({ seed, intervals }, t, data) {
  const k = intervals.findLastIndex(([start]) => start <= t);
  const end = k + 1 < intervals.length ? intervals[k + 1][0] : data.end;
  const [before, policy] = intervals[k];
  const name = policy < 0 ? "no policy" : data.names[policy];
  const span = `rounds ${(before + 1).toLocaleString("en")} to ${end.toLocaleString("en")}`;
  return [name, `seed ${seed}, ${span}`];
}

function showTip(tip, figure, event, [name, where]) {
  tip.replaceChildren();
  make("p", { class: "policy" }, tip, name);
  make("p", {}, tip, where);
  tip.hidden = false;
  const box = figure.getBoundingClientRect();
  const x = event.clientX - box.left;
  tip.style.left = `${Math.max(0, Math.min(x + 12, box.width - tip.offsetWidth))}px`;
  tip.style.top = `${event.clientY - box.top + 16}px`;
}

function description(row, data) {
  const last = row.lanes[0].intervals.at(-1)[1];
  return `${row.learners.join(", ")}: ${last < 0 ? "no policy" : data.names[last]} leads at the end`;
}

function rounds(figure, end) {
  const scale = make("div", { class: "strip scale", "aria-hidden": "true" }, figure);
  make("span", {}, scale);
  const line = make("div", {}, scale);
  for (const share of [0, 0.5, 1]) make("span", {}, line, tickText(Math.round(end * share), end));
}

function key(figure, data, paint) {
  const list = make("p", { class: "key" }, figure);
  const item = (policy, name) => {
    const entry = make("span", { title: name }, list);
    make("i", { style: `background:${paint(policy)}` }, entry);
    entry.append(name);
  };
  data.names.slice(0, data.coloured).forEach((name, policy) => item(policy, name));
  const others = data.names.length - data.coloured;
  if (others > 0) item(-1, `${others} other ${others === 1 ? "policy" : "policies"}`);
  if (data.left_out > 0) make("span", {}, list, `${data.left_out} more seeds are not shown`);
}
