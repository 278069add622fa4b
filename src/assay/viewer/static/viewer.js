// Keys, the chart, and causes that arrive after their page. Everything else works without scripts.
"use strict";
(() => {
  const KEYS = {
    j: "next", ArrowRight: "next", k: "previous", ArrowLeft: "previous",
    n: "next-failure", p: "previous-failure",
  };
  const exported = document.documentElement.hasAttribute("data-exported");

  // A server page knows its neighbours; a file has its steps one below the other.
  function move(where) {
    if (!exported) {
      const link = document.querySelector(`[data-key="${where}"]`);
      // A key that is held down waits for the step that it has asked for.
      if (!link?.classList.contains("htmx-request")) link?.click();
      return;
    }
    const cells = [...document.querySelectorAll(".ribbon .cell")];
    const at = cells.findIndex((cell) => cell.hash === location.hash);
    const failing = (cell) => cell.hasAttribute("data-failure");
    const found = {
      "next": cells[at + 1],
      "previous": at > 0 ? cells[at - 1] : undefined,
      "next-failure": cells.find((cell, i) => i > at && failing(cell)),
      "previous-failure": cells.findLast((cell, i) => i < at && failing(cell)),
    }[where];
    const beyond = { "next": "after", "previous": "before" }[where];
    (found ?? document.querySelector(`[data-key="${beyond}"]`))?.click();
  }

  document.addEventListener("keydown", (event) => {
    const where = KEYS[event.key];
    const typing = event.target.closest?.("input, select, textarea, .scroll, pre");
    if (!where || event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing && (event.key.startsWith("Arrow") || typing.matches("input, select, textarea"))) return;
    event.preventDefault();
    move(where);
  });

  // Labels: one key for the attempt, the same with Shift for the step.
  const LABELS = { r: "right", w: "wrong", d: "doubtful", u: "withdrawn", m: "note" };
  document.addEventListener("keydown", (event) => {
    const field = event.target.closest?.("input, select, textarea");
    if (event.key === "Escape" && field?.matches("[data-key$='-note']")) field.blur();
    const word = LABELS[event.key.toLowerCase()];
    if (!word || field || exported || event.ctrlKey || event.metaKey || event.altKey) return;
    const of = event.key === event.key.toLowerCase() ? "attempt" : "step";
    const button = document.querySelector(`[data-key="${of}-${word}"]`);
    if (!button || button.form?.classList.contains("htmx-request")) return;
    event.preventDefault();
    if (word === "note") button.focus(); else button.click();
  });

  function showHere() {
    for (const cell of document.querySelectorAll(".ribbon .cell")) {
      cell.classList.toggle("here", exported && cell.hash !== "" && cell.hash === location.hash);
    }
  }
  window.addEventListener("hashchange", showHere);

  function whiskers(lows, highs, colour) {
    return (plot) => {
      const pen = plot.ctx;
      pen.save();
      pen.strokeStyle = colour;
      pen.lineWidth = 1.5 * devicePixelRatio;
      lows.forEach((low, i) => {
        if (low === null) return;
        const x = plot.valToPos(i + 1, "x", true);
        const [y0, y1] = [plot.valToPos(low, "y", true), plot.valToPos(highs[i], "y", true)];
        const half = 4 * devicePixelRatio;
        pen.beginPath();
        pen.moveTo(x, y0); pen.lineTo(x, y1);
        pen.moveTo(x - half, y0); pen.lineTo(x + half, y0);
        pen.moveTo(x - half, y1); pen.lineTo(x + half, y1);
        pen.stroke();
      });
      pen.restore();
    };
  }

  function draw(figure) {
    const data = JSON.parse(document.getElementById(figure.dataset.chart).textContent);
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const place = figure.querySelector(".plot");
    const numbers = [...data.means, ...data.lows, ...data.highs].filter((x) => x !== null);
    const [least, most] = [Math.min(0, ...numbers), Math.max(1, ...numbers)];
    const axis = { stroke: colour("--faint"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line") } };
    const size = () => ({ width: Math.max(240, place.clientWidth), height: 200 });
    const plot = new uPlot({
      ...size(),
      scales: { x: { time: false, range: [0.5, data.means.length + 0.5] }, y: { range: [least, most + 0.05] } },
      axes: [
        { ...axis, splits: (u) => [...data.means.keys()].map((i) => i + 1).filter((n) => data.means.length <= 40 || n % Math.ceil(data.means.length / 20) === 0) },
        { ...axis, size: 44 },
      ],
      series: [{}, { label: "mean reward", stroke: colour("--p4"), width: 2, points: { show: true, size: 8, fill: colour("--p4") } }],
      hooks: { draw: [whiskers(data.lows, data.highs, colour("--p4"))] },
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
    }, [data.means.map((_, i) => i + 1), data.means], place);
    place.addEventListener("click", () => {
      const at = plot.cursor.idx;
      if (at !== null && at !== undefined) location.href = data.links[at];
    });
    new ResizeObserver(() => { if (place.isConnected) plot.setSize(size()); }).observe(figure);
    figure.classList.add("done");
  }

  function fillCauses(data) {
    const causes = JSON.parse(data.textContent);
    for (const cell of document.querySelectorAll("td[data-attempt]")) {
      cell.textContent = (causes[cell.dataset.attempt] ?? "—").replaceAll("_", " ");
    }
  }

  // An update must not undo what the reader did: choices, opened details, how far a table is moved.
  const KEPT = [
    ["input[type=radio]", (item) => `${item.name} ${item.value}`, "checked"],
    ["details", (item) => item.querySelector("summary").textContent, "open"],
    [".scroll", (item) => item.getAttribute("aria-label"), "scrollLeft"],
  ];
  function* states(part) {
    for (const [selector, name, what] of KEPT) {
      for (const item of part.querySelectorAll(selector)) yield [item, what, `${what} ${name(item)}`];
    }
  }
  let kept = new Map();
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    const updates = !detail.boosted && detail.target.matches("#live, #episode");
    kept = new Map(updates ? [...states(detail.target)].map(([item, what, key]) => [key, item[what]]) : []);
  });
  document.addEventListener("htmx:afterSwap", () => {
    for (const [item, what, key] of states(document)) if (kept.has(key)) item[what] = kept.get(key);
    kept.clear();
  });

  function dress() {
    for (const figure of document.querySelectorAll("[data-chart]:not(.done)")) draw(figure);
    for (const data of document.querySelectorAll("script[data-causes]")) fillCauses(data);
    showHere();
  }
  document.addEventListener("DOMContentLoaded", dress);
  document.addEventListener("htmx:afterSettle", dress);
})();
