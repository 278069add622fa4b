// Keys, the chart, and causes that arrive after their page. Everything else works without scripts.
"use strict";
(() => {
  const KEYS = {
    j: "next", ArrowRight: "next", k: "previous", ArrowLeft: "previous",
    n: "next-failure", p: "previous-failure",
  };

  // What is pressed while the answer to something else is under way comes after it: that answer
  // replaces the steps and the labels, and whatever would have been done to the old ones.
  const MOST_WAITING = 20;
  const waiting = [];
  let underWay = 0;
  function press(selector, repeated = false) {
    if (underWay === 0) document.querySelector(selector)?.click();
    // A key that is held down waits for the step that it has asked for.
    else if (!repeated && waiting.length < MOST_WAITING) waiting.push(selector);
  }
  document.addEventListener("htmx:beforeSend", ({ detail }) => {
    if (detail.target?.id !== "episode" || detail.elt.id === "episode") return;
    const note = detail.elt.querySelector?.("[data-key$='-note']");
    const written = note?.value ?? "";
    // The keys mean labels again once a note is sent.
    if (written) note.blur();
    if (note) note.value = "";
    underWay += 1;
    detail.xhr.addEventListener("loadend", () => {
      underWay -= 1;
      // What was not kept is still to be sent.
      if (note?.isConnected && !note.value && detail.xhr.status !== 200) note.value = written;
      while (underWay === 0 && waiting.length > 0) press(waiting.shift());
    });
  });
  document.addEventListener("click", (event) => {
    const item = event.target.closest?.("#episode a[id], #episode button[data-key]");
    if (!item || underWay === 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    press(item.id ? `#${item.id}` : `[data-key="${item.dataset.key}"]`);
  }, true);

  document.addEventListener("keydown", (event) => {
    const where = KEYS[event.key];
    const typing = event.target.closest?.("input, select, textarea, .scroll, pre");
    if (!where || event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing && (event.key.startsWith("Arrow") || typing.matches("input, select, textarea"))) return;
    event.preventDefault();
    press(`[data-key="${where}"]`, event.repeat);
  });

  // Labels: one key for the attempt, the same with Shift for the step.
  const LABELS = { r: "right", w: "wrong", d: "doubtful", u: "withdrawn", m: "note" };
  document.addEventListener("keydown", (event) => {
    const field = event.target.closest?.("input, select, textarea");
    if (event.key === "Escape" && field?.matches("[data-key$='-note']")) field.blur();
    const word = LABELS[event.key.toLowerCase()];
    if (!word || field || event.ctrlKey || event.metaKey || event.altKey) return;
    const of = event.key === event.key.toLowerCase() ? "attempt" : "step";
    const item = `[data-key="${of}-${word}"]`;
    if (!document.querySelector(`[data-key="${of}-note"]`)) return;
    event.preventDefault();
    if (word === "note") document.querySelector(item).focus(); else press(item, event.repeat);
  });

  function whiskers(lines, colours) {
    return (plot) => {
      const pen = plot.ctx;
      pen.save();
      pen.lineWidth = 1.5 * devicePixelRatio;
      lines.forEach(({ lows, highs }, line) => lows.forEach((low, i) => {
        if (low === null) return;
        const x = plot.valToPos(i + 1, "x", true);
        const [y0, y1] = [plot.valToPos(low, "y", true), plot.valToPos(highs[i], "y", true)];
        const half = 4 * devicePixelRatio;
        pen.strokeStyle = colours[line];
        pen.beginPath();
        pen.moveTo(x, y0); pen.lineTo(x, y1);
        pen.moveTo(x - half, y0); pen.lineTo(x + half, y0);
        pen.moveTo(x - half, y1); pen.lineTo(x + half, y1);
        pen.stroke();
      }));
      pen.restore();
    };
  }

  function draw(figure) {
    const data = JSON.parse(document.getElementById(figure.dataset.chart).textContent);
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    // The key beside the plot says how each line looks, in colour and in dashes.
    const pens = [...figure.querySelectorAll(".key .line")].map((line) => getComputedStyle(line));
    const colours = pens.map((pen) => pen.stroke);
    const dashes = pens.map((pen) => (pen.strokeDasharray === "none" ? [] : pen.strokeDasharray.split(",").map(parseFloat)));
    const place = figure.querySelector(".plot");
    const numbers = data.lines.flatMap((line) => [...line.means, ...line.lows, ...line.highs]).filter((x) => x !== null);
    const [least, most] = [Math.min(0, ...numbers), Math.max(1, ...numbers)];
    const axis = { stroke: colour("--faint"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line") } };
    const size = () => ({ width: Math.max(240, place.clientWidth), height: place.clientWidth < 500 ? 160 : 220 });
    const n = data.run_ids.length;
    const plot = new uPlot({
      ...size(),
      scales: { x: { time: false, range: [0.5, n + 0.5] }, y: { range: [least, most + 0.05] } },
      axes: [
        { ...axis, splits: () => data.run_ids.map((_, i) => i + 1).filter((i) => (i - 1) % Math.ceil(n / (place.clientWidth / 96)) === 0), values: (_, at) => at.map((i) => data.starts[i - 1] ?? ""), label: "started (UTC)", labelSize: 20, labelFont: "12px system-ui" },
        { ...axis, size: 44, label: "mean reward", labelSize: 20, labelFont: "12px system-ui" },
      ],
      series: [{}, ...data.lines.map((line, i) => ({
        label: `${line.benchmark}, ${line.agent}`, stroke: colours[i], dash: dashes[i], width: 2, spanGaps: true,
        points: { show: true, size: 8, fill: colours[i] },
      }))],
      hooks: { draw: [whiskers(data.lines, colours)] },
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
    }, [data.run_ids.map((_, i) => i + 1), ...data.lines.map((line) => line.means)], place);
    place.addEventListener("click", () => {
      const at = plot.cursor.idx;
      if (at !== null && at !== undefined) location.href = data.links[at];
    });
    new ResizeObserver(() => { if (place.isConnected) plot.setSize(size()); }).observe(figure);
    figure.classList.add("done");
  }

  // An update must not undo what the reader did: choices, opened details, how far a table is moved.
  const KEPT = [
    ["input[type=radio], input[name=pick]", (item) => `${item.name} ${item.value}`, "checked"],
    ["details", (item) => item.querySelector("summary").textContent, "open"],
    [".scroll", (item) => item.getAttribute("aria-label"), "scrollLeft"],
  ];
  // A note that is being written stays with the attempt or the step that it is about.
  const NOTES = [["[data-key$='-note']", (item) => new URLSearchParams(new FormData(item.form)).get("step") ?? "", "value"]];
  function* states(part, which) {
    for (const [selector, name, what] of which) {
      for (const item of part.querySelectorAll(selector)) yield [item, what, `${what} ${name(item)}`];
    }
  }
  let kept = new Map();
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const updates = detail.target.matches("#live, #list, #episode");
    const which = !updates ? [] : detail.boosted ? NOTES : [...KEPT, ...NOTES];
    kept = new Map([...states(document, which)].map(([item, what, key]) => [key, item[what]]));
  });
  document.addEventListener("htmx:afterSwap", () => {
    for (const [item, what, key] of states(document, [...KEPT, ...NOTES])) if (kept.has(key)) item[what] = kept.get(key);
    kept.clear();
  });

  function dress() {
    for (const figure of document.querySelectorAll("[data-chart]:not(.done)")) draw(figure);
  }
  document.addEventListener("DOMContentLoaded", dress);
  document.addEventListener("htmx:afterSettle", dress);
})();

// Lists: the keys of tables whose rows are links, the search, the help, and what is picked.
(() => {
  const FIELDS = "input:not([type=checkbox]), select, textarea";
  let row = null;

  function go(forward, wanted) {
    const rows = [...document.querySelectorAll("[data-rows] tbody tr")].filter((each) => each.querySelector("a"));
    const inside = document.activeElement?.closest?.("[data-rows] tbody tr") ?? (row?.isConnected ? row : null);
    const at = rows.indexOf(inside);
    const next = forward ? rows.find((each, i) => i > at && wanted(each)) : rows.findLast((each, i) => i < at && wanted(each));
    if (!next) return;
    row = next;
    next.querySelector("a").focus();
    next.scrollIntoView({ block: "nearest" });
  }

  const any = () => true;
  const lost = (each) => each.hasAttribute("data-failure");
  const KEYS = {
    "/": () => document.querySelector("[data-search]"),
    "?": () => document.querySelector("#help > summary"),
    x: () => row?.querySelector("input[name=pick]"),
    j: () => go(true, any), k: () => go(false, any), n: () => go(true, lost), p: () => go(false, lost),
  };
  document.addEventListener("keydown", (event) => {
    const key = KEYS[event.key];
    if (!key || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.(FIELDS)) return;
    const found = key();
    if (event.key === "/") found?.select();
    if (event.key === "?" && found) found.parentElement.open = true;
    if (event.key === "x") found?.click();
    else found?.focus();
    if (found) event.preventDefault();
  });

  // A third pick takes the place of the first.
  const picked = [];
  document.addEventListener("change", ({ target }) => {
    if (target.name !== "pick") return;
    if (picked.includes(target.value)) picked.splice(picked.indexOf(target.value), 1);
    if (target.checked) picked.push(target.value);
    if (picked.length > 2) {
      const first = picked.shift();
      for (const box of document.querySelectorAll("input[name=pick]")) if (box.value === first) box.checked = false;
    }
  });

  // An address says what was chosen, and nothing of what was not.
  document.addEventListener("htmx:configRequest", ({ detail }) => {
    if (detail.elt.id !== "filters") return;
    for (const [name, value] of [...detail.formData.entries()]) if (value === "") detail.formData.delete(name);
  });
})();
