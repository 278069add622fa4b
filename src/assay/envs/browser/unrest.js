// What happens in a document while somebody acts and while nobody does. Only listens: no handler
// stops, changes or answers anything.
(dom) => () => {
  const IDLE_CHARS = 400;      // a larger region is content that loads late, not an advertisement
  const LOADING_MS = 300;      // after this a document that changes without input changes by itself
  const SYNC_MS = 30;          // a change this soon after an input event is its doing
  const KEPT = 2000;
  const POPUP = /cookie|consent|gdpr|newsletter|subscri|promo|interstitial|survey|feedback-widget|chat-?widget|popup|pop-up|app-banner|paywall-offer/i;
  const state = {
    acting: false, began: performance.now(), input: -Infinity, inputTarget: null, answered: -Infinity,
    invalid: new Set(), copies: 0, changes: new Map(), quietSince: performance.now(),
  };
  const now = () => performance.now();
  const FETCHED = new Set(["fetch", "xmlhttprequest"]);
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (FETCHED.has(entry.initiatorType)) state.answered = now();
  }).observe({ type: "resource" });
  for (const name of ["pointerdown", "mousedown", "click", "keydown", "input", "change", "submit", "wheel"])
    addEventListener(name, (event) => {
      if (!event.isTrusted) return;
      state.input = now();
      state.inputTarget = new WeakRef(event.target);
    }, { capture: true, passive: true });
  addEventListener("invalid", (event) => { if (state.invalid.size < 100) state.invalid.add(event.target); }, true);
  addEventListener("copy", () => { state.copies++; }, true);

  // An element by its place in the document, so that one that is replaced by its like is known again.
  const place = (element) => {
    const parts = [];
    for (let at = element, depth = 0; at && dom.kind(at) === 1 && depth < 12; depth++) {
      const id = dom.attribute(at, "id");
      if (id) { parts.push("#" + id.slice(0, 60)); break; }
      let nth = 0;
      for (let other = at.previousElementSibling; other && nth < 200; other = other.previousElementSibling) nth++;
      parts.push(dom.tag(at) + nth);
      at = dom.parent(at);
    }
    return parts.join("<");
  };
  const restless = new Map();
  const onChange = (element) => {
    const t = now();
    const synchronous = t - state.input < SYNC_MS;
    if (state.changes.size < KEPT && !state.changes.has(element)) state.changes.set(element, { t, synchronous });
    const key = place(element);
    if (!restless.get(key)?.known) state.quietSince = t;
    if (state.acting || synchronous || t - state.began < LOADING_MS || document.readyState === "loading") return;
    if ((element.textContent ?? "").length > IDLE_CHARS || restless.size >= KEPT) return;
    const seen = restless.get(key) ?? { count: 0, last: -Infinity, known: false };
    if (t - seen.last > 40) { seen.count++; seen.last = t; }
    // A timer changed it; what an answer of the network changed once may just have loaded late.
    if (seen.count >= (t - state.answered > 200 ? 1 : 2)) seen.known = true;
    restless.set(key, seen);
  };
  const observer = new MutationObserver((records) => {
    for (const record of records) {
      const target = dom.kind(record.target) === 1 ? record.target : dom.parent(record.target);
      if (!target || dom.kind(target) !== 1 || dom.SKIP.has(dom.tag(target))) continue;
      if (record.type === "childList" && (target === document.body || target === document.documentElement)) {
        for (const node of record.addedNodes) if (dom.kind(node) === 1 && !dom.SKIP.has(dom.tag(node))) onChange(node);
        continue;
      }
      onChange(target);
    }
  });
  const watch = () => observer.observe(document, {
    subtree: true, childList: true, characterData: true, attributes: true,
    attributeFilter: ["class", "style", "hidden", "open", "src", "aria-hidden", "aria-expanded", "value"],
  });
  watch();

  const layer = (element) => {
    for (let at = element, depth = 0; at && dom.kind(at) === 1 && depth < 30; at = dom.parent(at), depth++) {
      if (at === document.body || at === document.documentElement) return null;
      const role = dom.attribute(at, "role");
      if (role === "dialog" || role === "alertdialog" || dom.tag(at) === "DIALOG") return at;
      const style = getComputedStyle(at);
      if (style.position === "fixed" && style.display !== "none") return at;
    }
    return null;
  };
  const labelOf = (element) =>
    [dom.attribute(element, "id"), dom.attribute(element, "class"), dom.attribute(element, "aria-label")].join(" ").slice(0, 400);
  const wellKnown = (element) => {
    const match = POPUP.exec(labelOf(element)) ?? POPUP.exec(labelOf(dom.children(element)[0] ?? element));
    if (!match) return false;
    const target = state.inputTarget?.deref();
    if (!target || dom.kind(target) !== 1) return true;
    const own = `${labelOf(target)} ${dom.attribute(target, "aria-controls") ?? ""} ${dom.text(target, 100)}`;
    return !own.toLowerCase().includes(match[0].toLowerCase().slice(0, 6));
  };
  const popups = () => {
    const found = new Set();
    for (const [element, change] of state.changes) {
      if (!dom.connected(element)) continue;
      const over = layer(element);
      if (!over || found.has(over) || !dom.visible(over)) continue;
      const box = dom.box(over);
      if (box.width * box.height < 0.02 * innerWidth * innerHeight) continue;
      const byTimer = !change.synchronous && state.answered < state.input;
      if (byTimer || wellKnown(over)) found.add(over);
    }
    return found;
  };
  const marked = () => {
    const out = new Set();
    for (const field of dom.inDocument(document, '[aria-invalid="true"], :user-invalid')) {
      if (out.size >= 200) break;
      if (dom.tag(field) !== "FORM" && dom.tag(field) !== "FIELDSET" && dom.visible(field)) out.add(field);
    }
    for (const alert of dom.inDocument(document, "form [role=alert], [role=alert].error, [role=alert][class*=err], [role=alert][class*=invalid]"))
      if (out.size < 200 && dom.visible(alert) && dom.text(alert, 40)) out.add(alert);
    return out;
  };
  let markedBefore = new Set();
  const popupLayers = new WeakSet();
  return {
    // A call begins: what follows is its doing, until `rest`.
    begin: () => {
      state.acting = true;
      state.changes.clear();
      state.invalid.clear();
      state.copies = 0;
      state.input = now();
      state.quietSince = now();
      markedBefore = marked();
    },
    rest: () => { state.acting = false; },
    // Resolves when nothing but what changes by itself has changed for a while, or at the deadline.
    quiet: ({ quiet, deadline }) => new Promise((done) => {
      const end = now() + deadline;
      const check = () => {
        const t = now();
        const left = quiet - (t - state.quietSince);
        if (left <= 0 || t >= end) done(left <= 0);
        else setTimeout(check, Math.max(1, Math.min(left, end - t)));
      };
      setTimeout(check, 0);
    }),
    restless: (element) => restless.size > 0 && Boolean(restless.get(place(element))?.known),
    popup: (element) => popupLayers.has(element),
    // What was noticed since the call began; fields that were refused as the numbers of elements.
    report: () => {
      const found = popups();
      for (const over of found) popupLayers.add(over);
      const refused = new Set(state.invalid);
      for (const field of marked()) if (!markedBefore.has(field)) refused.add(field);
      return { refused, copies: state.copies, popups: found.size };
    },
  };
}
