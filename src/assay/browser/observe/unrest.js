// What happens in a document while somebody acts and while nobody does. Only listens: no handler
// stops, changes or answers anything.
(dom, tell) => () => {
  const IDLE_CHARS = 400;      // a larger region is content that loads late, not an advertisement
  const LOADING_MS = 300;      // after this a document that changes without input changes by itself
  const SYNC_MS = 30;          // a change this soon after an input event is its doing
  const GLIDE_MS = 60, FRAME_MS = 20, SCROLLS_MS = 150, SCROLLED_MS = 1000;
  const ANSWER_MS = 200;       // an answer of the network is shown by then
  const PARTS_MS = 40;         // and all of it so soon after its first part
  const TASK_MS = 5;           // changes that are further apart are hardly one task's
  const KEPT = 2000;
  const POPUP = /cookie|consent|gdpr|newsletter|subscri|promo|interstitial|survey|feedback-widget|chat-?widget|popup|pop-up|app-banner|paywall-offer/i;
  const NEW_MS = 2000;         // a new document belongs to the call that led to it, if nobody says else
  const now = () => performance.now();
  const state = {
    acting: true, began: now(), input: -Infinity, event: -Infinity, inputTarget: null, answered: -Infinity, told: -Infinity, shown: null, parts: new Set(), field: null,
    invalid: new Set(), copies: 0, changes: new Map(), added: new Set(), emptied: new Set(), blanked: new Set(), pressed: [], ignored: false, scrollKey: -Infinity, scrolled: -Infinity, scrollEnd: -Infinity, waited: false, quietSince: now(), stirred: false, begun: false, near: false, inTask: false, phase: 0,
    altered: true, // whether anything may have changed since the last look
  };
  const acting = () => state.acting && (state.begun || now() - state.began < NEW_MS);
  const FETCHED = new Set(["fetch", "xmlhttprequest", "script", "link"]);
  // Whether a change at that time shows the last answer of the network.
  const mayAnswer = (t) => t >= state.answered && t - state.told < ANSWER_MS;
  const showsAnswer = (t) => mayAnswer(t) && t - (state.shown ?? t) < PARTS_MS;
  // A page often shows an answer before it is told here that there was one.
  const onAnswer = ({ responseStart, responseEnd }) => {
    const end = responseEnd || now();
    if (end < state.answered) return;
    // A page may go by how a short answer begins.
    state.answered = end - responseStart < PARTS_MS ? responseStart : end;
    state.told = now();
    const since = [...state.changes].filter(([element, { last }]) => last >= state.answered && !entryOf(element)).map(([, change]) => change);
    state.shown = since.length ? Math.min(...since.map(({ last }) => last)) : null;
    state.parts.clear();
    for (const change of since) {
      if (mayAnswer(change.last)) state.parts.add(change.task);
      if (!state.ignored && showsAnswer(change.last)) change.caused = change.sure = change.answers = true;
    }
  };
  new PerformanceObserver((list) => {
    const answers = list.getEntries().filter(({ initiatorType }) => FETCHED.has(initiatorType));
    for (const answer of answers.sort((a, b) => a.responseEnd - b.responseEnd)) onAnswer(answer);
  }).observe({ type: "resource" });
  // What the input was meant for: the control around the place that was hit, or that place itself.
  const CONTROL = "a[href],button,input,select,textarea,summary,label,[role],[onclick],[tabindex]";
  const control = (element) => {
    for (let at = element, depth = 0; at && dom.kind(at) === 1 && depth < 12; depth++) {
      if (dom.matches(at, CONTROL)) return at;
      at = dom.parent(at);
    }
    return element;
  };
  // A window that covers the page asks a question as well, whether or not it is marked as a dialog.
  const question = (element) => {
    for (let at = element, depth = 0; at && depth < 40; at = dom.parent(at) ?? at.host, depth++)
      if (dom.kind(at) === 1 && dom.modal(at)) return dom.text(at, 300);
    const top = layer(element);
    const box = top && dom.box(top);
    return box && box.width * box.height > 0.04 * innerWidth * innerHeight ? dom.text(top, 300) : "";
  };
  // A message that is addressed to somebody: a field for who is to get it, with an address in it.
  // A word that is also another one ("to", "do") must be the whole name.
  const RECIPIENT = /^((to|cc|bcc|an|à|a|para|aan|кому|إلى|do|till|kime)\s*[:：*]?\s*$|(recipients?|payee|beneficiary|empf(ä|ae)nger|beg(ü|ue)nstigter|destinataires?|b(é|e)n(é|e)ficiaire|destinatarios?|destinat(á|a)rios?|destinatari[oa]?|beneficiari[oa]|benefici(á|a)rio|ontvangers?|begunstigde|получатель|收件人|收信人|收款人|宛先|受取人|받는\s?사람|받는\s?분|المستلم|المستفيد|odbiorca|adresat|mottagare|al(ı|i)c(ı|i))(?!\p{L}))/iu;
  // An address, or a number that may have spaces in it.
  const reachable = (value) => /@|\d{6}/.test(value) || /\d{8}/.test(value.replace(/ /g, ""));
  const recipient = () => {
    const fields = dom.inDocument(document, "input[type=email],input[type=text],input:not([type]),textarea");
    for (let i = 0; i < fields.length && i < 40; i++)
      if (reachable(fields[i].value) && RECIPIENT.test(dom.name(fields[i])) && dom.visible(fields[i])) return true;
    return false;
  };
  // A line such as "To: somebody@example.org" beside a field for a text.
  const ADDRESSED = /^\s*[\p{L}\s]{1,20}[:：]\s*\S{1,60}@\S{2,60}/u;
  const addressed = (element) => {
    let at = element;
    for (let depth = 0; at && dom.kind(at) === 1 && depth < 5; at = dom.parent(at), depth++)
      if (Element.prototype.querySelector.call(at, "textarea,[contenteditable=true],[contenteditable='']")) break;
    if (!at || dom.kind(at) !== 1) return false;
    let left = 60;
    for (const part of Element.prototype.querySelectorAll.call(at, "p,div,span,li,td,dd,label,header")) {
      if (left-- <= 0) return false;
      const text = dom.visible(part) ? dom.text(part, 121) : "";
      if (text.length <= 120 && ADDRESSED.test(text) && RECIPIENT.test(text.trim().split(/[:：]/)[0])) return true;
    }
    return false;
  };
  // The line that a control stands in, and the heading above it.
  const line = (element) => {
    const own = dom.text(element, 100).length;
    let text = "", heading = "";
    for (let at = dom.parent(element), depth = 0; at && dom.kind(at) === 1 && depth < 8 && !heading; at = dom.parent(at), depth++) {
      if (!text && dom.text(at, 101).length > own) text = dom.text(at, 101);
      let left = 20;
      for (let other = at; other && left-- > 0; other = other.previousElementSibling)
        if (/^H[1-6]$/.test(dom.tag(other))) { heading = dom.text(other, 80); break; }
    }
    return `${heading} ${text.length > 100 ? "" : text}`.trim();
  };
  // What is written around a control, as long as it is little enough to be about it.
  const surroundings = (element) => {
    let text = "";
    for (let at = dom.parent(element), depth = 0; at && dom.kind(at) === 1 && depth < 6; at = dom.parent(at), depth++) {
      const here = dom.text(at, 401);
      if (here.length > 400) break;
      text = here;
    }
    return text;
  };
  // What something was dropped on, by its own short label.
  const receiver = (element) => {
    for (let at = element, depth = 0; at && dom.kind(at) === 1 && depth < 5 && at !== document.body; at = dom.parent(at), depth++) {
      const label = dom.attribute(at, "aria-label") || dom.attribute(at, "title") || dom.text(at, 41) || pictured(at);
      if (label && label.length <= 40) return dom.fold(label);
    }
    return "";
  };
  // A control without a name has a picture on it, and pictures are called after what they show.
  const pictured = (element) => {
    const words = [];
    for (const part of [element, ...[...Element.prototype.querySelectorAll.call(element, "*")].slice(0, 8)]) {
      const use = dom.attribute(part, "href") ?? dom.attribute(part, "xlink:href") ?? "";
      words.push(dom.attribute(part, "class") ?? "", dom.attribute(part, "data-icon") ?? "", dom.tag(part) === "USE" ? use : "");
    }
    return dom.fold(words.join(" ").replace(/\b(dust|rubbish|garbage|recycle|waste)?-?(bin|basket)\b/gi, (word, kind, thing) => (kind || thing.toLowerCase() === "bin" ? "trash" : word)).slice(0, 300).replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[^\p{L}]+/gu, " "));
  };
  const describe = (element) => {
    const target = control(element), plain = target === element && !dom.matches(element, CONTROL);
    const name = (dom.name(target) || pictured(target)).slice(0, 160);
    const box = dom.box(element);
    return {
      // A long text that was clicked on is a text, not a button.
      role: plain && name.length > 60 ? "" : dom.attribute(target, "aria-pressed") ? "switch" : dom.role(target),
      name, dialog: question(target), recipient: recipient() || addressed(target), around: surroundings(target), near: line(target),
      // What is empty and yet seen has an inside that only the eye can read, such as a closed root.
      drawn: ["CANVAS", "VIDEO", "IMG", "SVG"].includes(dom.tag(element)) ||
        (!dom.matches(target, "a,button,input,select,textarea") && !dom.text(element, 1)),
      box: [box.x, box.y, box.width, box.height],
      jumps: leadsInside(target), saves: dom.matches(target, "a[href][download]"),
    };
  };
  // A link to a place on the same page.
  const leadsInside = (element) => {
    const anchor = dom.tag(element) === "A" ? (dom.attribute(element, "href") ?? "").match(/^#(.{1,200})$/)?.[1] : undefined;
    return Boolean(anchor) && (anchor === "top" || dom.byId(document, anchor) !== null);
  };
  const origin = (event) => {
    const path = event.composedPath();
    return path.length && dom.kind(path[0]) === 1 ? path[0] : event.target;
  };
  // Right after the task that asks for it, and before any timer, also on a busy machine.
  const afterTask = (act) => { scheduler.postTask(act, { priority: "user-blocking" }); };
  // Changes of one task have one number.
  let task = 0, inChange = false, changed = -Infinity;
  const taskAt = (t) => {
    if (!inChange) afterTask(() => { inChange = false; });
    if (!inChange || t - changed > TASK_MS) task++;
    inChange = true;
    changed = t;
    return task;
  };
  const mark = () => {
    const at = state.event = now();
    // By a timer and not by the clock: on a busy machine those of the page are as late as this one.
    state.near = true;
    setTimeout(() => { if (state.event === at) state.near = false; }, SYNC_MS);
    if (state.inTask) return;
    state.inTask = true;
    afterTask(() => { state.inTask = false; });
  };
  for (const name of ["pointerover", "pointermove", "pointerup", "mouseup", "dragstart", "dragover", "drop", "focusin", "keyup", "popstate", "hashchange", "touchstart"])
    addEventListener(name, (event) => { if (event.isTrusted || name === "popstate" || name === "hashchange") mark(); }, { capture: true, passive: true });
  const holdsText = (element) => {
    if (element.isContentEditable === true) return dom.text(element, 1) !== "";
    return ["INPUT", "TEXTAREA"].includes(dom.tag(element)) && Boolean(element.value);
  };
  // What a page keeps in the browser: what is removed from there is lost as well.
  const store = () => {
    try {
      let size = 0;
      for (const place of [localStorage, sessionStorage])
        for (let i = 0; i < place.length && i < 200 && size < 500000; i++) size += (place.getItem(place.key(i)) ?? "").length;
      return `${localStorage.length} ${sessionStorage.length} ${size} ${document.cookie.length}`;
    } catch { return ""; }
  };
  const SCROLL_KEYS = new Set(["PageDown", "PageUp", "Home", "End", "ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight", " "]);
  // Whether a wheel can move anything: what is at its end already stays where it is. What is around
  // a frame may be moved from within.
  const canTurn = (event) => {
    for (const at of event.composedPath()) {
      if (!(at instanceof Element)) continue;
      const [top, range] = dom.scrolled(at);
      if (event.deltaX || (event.deltaY > 0 ? top < range - 1 : top > 1)) return true;
    }
    return window !== window.top;
  };
  // What is in a closed root is told by that root, because outside it everything is its host.
  const reported = new WeakSet();
  const listen = (root) => {
   for (const name of ["pointerdown", "mousedown", "click", "keydown", "input", "change", "submit", "wheel"])
    root.addEventListener(name, (event) => {
      if (!event.isTrusted || reported.has(event)) return;
      if (root === globalThis && dom.kind(origin(event) ?? document) === 1 && dom.isClosed(origin(event))) return;
      reported.add(event);
      state.input = now();
      state.altered = true;
      mark();
      const target = origin(event);
      state.inputTarget = new WeakRef(target);
      if (!target || target === document || dom.kind(target) !== 1) return;
      if (name === "input" || name === "change") state.field = new WeakRef(target);
      if ((name === "wheel" && canTurn(event)) || (name === "keydown" && SCROLL_KEYS.has(event.key))) state.scrollKey = now();
      state.acting = state.begun = true; // somebody acts, announced or not, until `rest`
      if (name === "click" && state.pressed.length < 20) state.pressed.push(new WeakRef(target));
      if (name === "click") tell({ kind: "click", ...describe(target) });
      if (name === "keydown" && ["Enter", " "].includes(event.key) && !["INPUT", "TEXTAREA"].includes(dom.tag(target)))
        tell({ kind: "press", ...describe(target) });
      // What is typed into a field may be sent off from there, with a form around it or without.
      if (name === "keydown" && event.key === "Enter" && !event.shiftKey && holdsText(target))
        tell({ kind: "enter", ...describe(target) });
      if (name === "submit") {
        state.sent = new WeakRef(target);
        const button = event.submitter;
        tell({ kind: "press", ...(button ? describe(button) : { role: "form", name: "", dialog: "", recipient: recipient() || addressed(target), around: surroundings(target), near: "" }) });
      }
      if (name === "input") tell({ kind: "input", ...describe(target) });
      if (name === "pointerdown") state.grip = new WeakRef(target);
    }, { capture: true, passive: true });
  };
  listen(globalThis);
  const onDrop = (event) => {
    const target = origin(event), grip = state.grip?.deref();
    if (!event.isTrusted || !grip || !target || dom.kind(target) !== 1 || target === grip || dom.contains(target, grip) || dom.contains(grip, target)) return;
    tell({ kind: "drop", role: "button", name: receiver(target), dialog: "" });
  };
  for (const name of ["drop", "pointerup"]) addEventListener(name, onDrop, { capture: true, passive: true });
  const scrolls = new Map();
  addEventListener("scroll", (event) => {
    const target = event.target;
    state.altered = true;
    if (now() - state.event < SCROLLED_MS) state.scrolled = now();
    if (dom.kind(target) === 1 && scrolls.size < 50) scrolls.set(place(target), new WeakRef(target));
  }, { capture: true, passive: true });
  addEventListener("scrollend", () => { state.scrollEnd = now(); }, { capture: true, passive: true });
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
  const known = new WeakMap(), knownIds = new Map();
  const learn = (element, entry) => {
    entry.known = true;
    known.set(element, entry);
    const id = dom.attribute(element, "id");
    if (id) knownIds.set(id, entry);
  };
  // What is known of an element that changes by itself; an element that was replaced by its like
  // keeps its id.
  const entryOf = (element) => {
    if (!restless.size) return undefined;
    const entry = known.get(element);
    if (entry || !knownIds.size) return entry;
    const id = dom.attribute(element, "id");
    return id ? knownIds.get(id) : undefined;
  };
  // What changes by itself may also be changed by a call: then its words are others, not its figures.
  const letters = (text) => text.slice(0, IDLE_CHARS).replace(/[^\p{L}]+/gu, " ").trim();
  const turn = (element, entry, removed) => {
    const words = letters(element.textContent ?? "");
    const before = entry.words ?? (removed?.length ? letters([...removed].map((node) => node.textContent ?? "").join(" ")) : words);
    if (before !== words) { entry.turned = true; entry.frozen = undefined; }
    entry.words = words;
  };
  const onChange = (element, removed) => {
    const t = now();
    const synchronous = !state.ignored && (state.near || state.inTask);
    const answers = !state.ignored && showsAnswer(t), task = taskAt(t);
    if (!synchronous && !entryOf(element)) {
      if (answers) state.shown ??= t;
      if (mayAnswer(t)) state.parts.add(task);
    }
    const caused = synchronous || answers;
    // What merely comes soon after an event may do so by chance.
    const sure = (synchronous && state.inTask) || answers;
    const before = state.changes.get(element);
    if (before) { before.caused ||= caused; before.sure ||= sure; before.answers ||= answers; before.last = t; before.task = task; }
    else if (state.changes.size < KEPT) state.changes.set(element, { last: t, task, synchronous, caused, sure, answers });
    if (!entryOf(element)) { state.quietSince = t; state.stirred = true; }
    if (t - state.began < LOADING_MS || document.readyState === "loading") return;
    if ((element.textContent ?? "").length > IDLE_CHARS || restless.size >= KEPT) return;
    const key = place(element);
    const seen = restless.get(key) ?? { count: 0, last: -Infinity, phase: 0, known: false, alone: false };
    restless.set(key, seen);
    if (state.inTask && acting()) turn(element, seen, removed);
    if (seen.phase !== state.phase) { seen.phase = state.phase; seen.count = 0; }
    if (state.inTask) return;
    if (synchronous) seen.chance = state.phase;
    seen.words = letters(element.textContent ?? "");
    if (t - seen.last > 40) { seen.count++; seen.gap = t - seen.last; seen.last = t; }
    if (!acting() && !caused) seen.alone = true;
    // Once may be late loading, and what an answer of the network changed may come in parts.
    if (!acting() && seen.count >= (caused ? 3 : 2)) learn(element, seen);
  };
  // What changed during a call by timers alone.
  const suspects = () => {
    const out = [];
    for (const [element, change] of state.changes) {
      // What was emptied by an input and filled again is an answer.
      if (entryOf(element) || !dom.connected(element) || state.blanked.has(element)) continue;
      const entry = restless.get(place(element));
      // What changes by itself may do so just when somebody acts; what a call has touched may come
      // to its end a little later, and is not waited for.
      if (entry) out.push([element, entry, !change.sure || entry.alone || mayWarn(element, change)]);
    }
    return out.slice(0, 50);
  };
  // Whether a warning that seems to show an answer may be a timer's: where several tasks change
  // something so soon after an answer, one of them may have nothing to do with it.
  const mayWarn = (element, { answers, synchronous }) => answers && !synchronous && state.parts.size > 1 &&
    [element, ...[...Element.prototype.querySelectorAll.call(element, "*")].slice(0, 8)].some((part) => ["red", "message"].includes(markOf(part)));
  // Whether all that has changed since a click may have done so by chance: what is known to change by
  // timers as well may do so in the very moment of an event.
  const byChance = ([element, { sure }]) => !sure || restless.get(place(element))?.last > -Infinity;
  const doubtful = () => state.pressed.length > 0 && state.changes.size > 0 && [...state.changes].every(byChance);
  const WORDS = /[\p{L}\p{N}]/u;
  const says = (nodes) => {
    for (const node of nodes) if (WORDS.test(node.textContent ?? "")) return true;
    return false;
  };
  const observer = new MutationObserver((records) => {
    state.altered = true;
    for (const record of records) {
      if (record.type === "childList")
        for (const node of record.addedNodes)
          if (dom.kind(node) === 1 && state.added.size < KEPT && !dom.SKIP.has(dom.tag(node))) state.added.add(node);
      const target = dom.kind(record.target) === 1 ? record.target : dom.parent(record.target);
      if (!target || dom.kind(target) !== 1 || dom.SKIP.has(dom.tag(target))) continue;
      if (record.type === "childList" && (target === document.body || target === document.documentElement)) {
        for (const node of record.addedNodes) if (dom.kind(node) === 1 && !dom.SKIP.has(dom.tag(node))) onChange(node);
        continue;
      }
      if (acting() && state.emptied.size < KEPT && says(record.removedNodes)) {
        state.emptied.add(target);
        if (state.inTask && !WORDS.test(target.textContent ?? "")) state.blanked.add(target);
      }
      onChange(target, record.removedNodes);
    }
  });
  const watch = (root) => observer.observe(root, {
    subtree: true, childList: true, characterData: true, attributes: true,
    attributeFilter: ["class", "style", "hidden", "open", "src", "aria-hidden", "aria-expanded", "aria-busy", "aria-invalid", "value"],
  });
  watch(document);

  const layer = (element) => {
    for (let at = element, depth = 0; at && dom.kind(at) === 1 && depth < 30; at = dom.parent(at), depth++) {
      if (at === document.body || at === document.documentElement) return null;
      if (dom.modal(at)) return at;
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
  // The layer that an element is, is in, or brought with it.
  const over = (element) => {
    const around = layer(element);
    if (around) return around;
    let left = 40;
    for (const inner of Element.prototype.querySelectorAll.call(element, "*")) {
      if (left-- <= 0) break;
      if (dom.modal(inner) || getComputedStyle(inner).position === "fixed") return element;
    }
    return null;
  };
  const popups = () => {
    const found = new Set();
    for (const [element, change] of state.changes) {
      if (!dom.connected(element) || dom.SKIP.has(dom.tag(element))) continue;
      const top = over(element);
      if (!top || found.has(top) || !dom.visible(top) || openBefore.has(top)) continue;
      const byTimer = !change.synchronous && !change.caused && state.answered < state.input;
      const box = dom.box(top);
      const large = box.width * box.height >= 0.02 * innerWidth * innerHeight;
      if (byTimer || (large && wellKnown(top))) found.add(top);
    }
    return found;
  };
  const layersOpen = () => {
    const out = new Set();
    for (const element of dom.inDocument(document, "dialog,[role=dialog],[role=alertdialog]"))
      if (dom.visible(element)) out.add(element);
    return out;
  };
  let openBefore = new Set(), popupsBefore = new Set();
  const WRONG = /(^|[-_])(err|error|errors|errorlist|danger|invalid|failure|failed)([-_]|$)/i;
  const isWrong = (element) =>
    (dom.attribute(element, "class") ?? "").slice(0, 300).split(/\s+/).some((token) => WRONG.test(token.replace(/([a-z])([A-Z])/g, "$1-$2")));
  // Fields that are marked as wrong, and messages that are marked as such, with their texts.
  const marked = () => {
    const out = new Map();
    for (const field of dom.inDocument(document, '[aria-invalid="true"], :user-invalid')) {
      if (out.size >= 200) break;
      if (dom.tag(field) !== "FORM" && dom.tag(field) !== "FIELDSET" && dom.visible(field)) out.set(field, "");
    }
    const messages = "form [role=alert], [role=alert][class], [class*=err i], [class*=danger i], [class*=invalid i], [class*=fail i]";
    for (const message of dom.inDocument(document, messages)) {
      if (out.size >= 200) break;
      const inForm = dom.attribute(message, "role") === "alert" && message.closest("form");
      if (!inForm && !isWrong(message)) continue;
      const text = dom.text(message, 301);
      if (text && text.length <= 300 && dom.visible(message) && !HOLDERS.has(dom.tag(message))) out.set(message, text);
    }
    return out;
  };
  // Texts that came with the call and are short enough to be messages, with what marks them as such.
  const MESSAGE = /(^|[-_])(notice|notification|toast|snack|snackbar|alert|flash|warn|warning|err|error|errors|danger|invalid|fail|failed|failure)([-_]|$)/i;
  const HINT = /(^|[-_])(msg|message|messages|hint|help|feedback|status|note|callout|result|output)([-_]|$)/i;
  const GOOD = /(^|[-_])(ok|success|successful|good|valid|done|saved|positive|confirm|confirmed)([-_]|$)/i;
  const tokens = (element) =>
    `${dom.attribute(element, "class") ?? ""} ${dom.attribute(element, "id") ?? ""}`.slice(0, 300)
      .replace(/([a-z])([A-Z])/g, "$1-$2").split(/\s+/);
  const rgb = (text) => (/^rgba?\(([\d., ]+)\)/.exec(text)?.[1] ?? "").split(",").map(Number);
  const colour = (element) => {
    const style = getComputedStyle(element);
    const red = ([r, g, b, alpha = 1]) => alpha > 0.3 && r > 130 && r - Math.max(g, b) > 70;
    const green = ([r, g, b, alpha = 1]) => alpha > 0.3 && g > 70 && g - Math.max(r, b) > 25;
    const on = rgb(style.backgroundColor), text = rgb(style.color);
    if (red(text) || red(on)) return "red";
    return green(text) || green(on) ? "good" : "";
  };
  const live = (element) =>
    /^(alert|status|alertdialog|log)$/.test(dom.attribute(element, "role") ?? "") ||
    /^(polite|assertive)$/.test(dom.attribute(element, "aria-live") ?? "") || dom.tag(element) === "OUTPUT";
  const INPUTS = "a,button,input,select,textarea,option,[role=button],[role=tab],[role=option],[role=menuitem]";
  const markOf = (element) => {
    let mark = colour(element);
    for (let at = element, depth = 0; at && dom.kind(at) === 1 && depth < 3; at = dom.parent(at), depth++) {
      const around = tokens(at);
      if (around.some((token) => GOOD.test(token))) return "good";
      if (mark) continue;
      if (live(at) || around.some((token) => MESSAGE.test(token))) mark = "message";
      else if (around.some((token) => HINT.test(token))) mark = "hint";
      else if (["fixed", "absolute"].includes(getComputedStyle(at).position) && !dom.modal(at)) mark = "message";
    }
    return mark;
  };
  // Whether something came by a timer, in a place where such things come while nobody acts.
  const comesAlone = (element) => {
    for (let at = element, depth = 0; at && dom.kind(at) === 1 && depth < 5; at = dom.parent(at), depth++) {
      if (at === document.body) return false;
      if (entryOf(at) || restless.get(place(at))?.alone) return true;
    }
    return false;
  };
  const caused = (element) => {
    for (let at = element, depth = 0; at && dom.kind(at) === 1 && depth < 5; at = dom.parent(at), depth++)
      if (state.changes.get(at)?.caused) return true;
    return false;
  };
  // Only while a call is under way, or right after it; a text that was there before is left out later.
  const messages = () => {
    const out = [], had = new Set();
    // Where the call has shown its effect, what a timer brings besides is not its answer.
    const shown = [...state.changes].some(([element, change]) => change.caused && dom.connected(element) && !dom.matches(element, INPUTS));
    for (const element of [...state.added, ...state.changes.keys()]) {
      if (out.length >= 12 || had.size >= 200) break;
      if (had.has(element) || !dom.connected(element) || dom.SKIP.has(dom.tag(element))) continue;
      had.add(element);
      if (entryOf(element) || popupLayers.has(element) || dom.matches(element, INPUTS) || !dom.visible(element)) continue;
      const text = dom.text(element, 301);
      // What has several things to press is a part of the page, and not a message.
      if (Element.prototype.querySelectorAll.call(element, INPUTS).length > 1) continue;
      if (text.length < 4 || text.length > 300 || out.some(([other]) => other === text)) continue;
      if (comesAlone(element)) continue;
      const mark = markOf(element);
      out.push([text, shown && !caused(element) ? "" : mark, isOwn(element, fieldOf(state.selector))]);
    }
    // A whole view may have hints and notes in it; a new document has nothing else.
    const few = out.length <= 3 && state.begun;
    return few ? out : out.filter(([, mark]) => mark === "red" || (mark === "message" && state.begun));
  };
  // What says that the end is still to come: a bar, a wheel, a text that ends in dots.
  const BUSY = /(^|[-_])(spinner|loading|loader|skeleton|busy|throbber)([-_]|$)/i;
  const DOTS = /^[^…]{2,60}(…|\.\.\.)$/;
  const WAIT = /^(loading|please wait|wait a|checking|verifying|looking for|hang on|hold on|still |working on|processing|saving|sending|searching|uploading|preparing|calculating|connecting|fetching|generating|one moment|just a moment|bitte warten|einen moment|wird |l(ä|ae)dt|chargement|veuillez patienter|patientez|cargando|espere|carregando|aguarde|caricamento|attendere|attendi|laden|even geduld|загрузка|подождите|加载中|正在|请稍候|請稍候|読み込み中|お待ちください|処理中|로딩|처리 중|불러오는 중|جار|يرجى الانتظار|ładowanie|proszę czekać|laddar|vänta|yükleniyor|lütfen bekleyin)/i;
  const LASTS = /\b(this|it|that) (can|may|could|might|will) take (a|an|some|several|up|about|one|two|few|[0-9])|\bwe('re| are) (still )?(checking|processing|preparing|verifying|reviewing|working on|looking into)|\b(das|dies|es) (kann|wird) (einige|ein paar|bis zu|etwas|mehrere|[0-9])[^.]{0,30}(dauern|zeit)|\b(cela|ceci|ça) (peut|pourrait) prendre|\besto (puede|podría) (tardar|llevar|tomar)|\b(isso|isto) pode (demorar|levar)|\bpotrebbe(ro)? (volerci|richiedere)|\bpuò richiedere|\bdit kan [^.]{0,20}duren|это может занять|может занять|可能需要|需要几分钟|かかる場合|お時間がかか|걸릴 수 있|قد يستغرق|\bto może (potrwać|zająć)|\bdet kan ta |sürebilir/i;
  const isBusy = (element) =>
    dom.attribute(element, "aria-busy") === "true" || dom.attribute(element, "role") === "progressbar" ||
    (dom.tag(element) === "PROGRESS" && dom.attribute(element, "value") === null) || tokens(element).some((token) => BUSY.test(token));
  const busy = () => {
    let left = 60;
    for (const element of [...state.added, ...state.changes.keys()]) {
      if (left-- <= 0) break;
      if (!dom.connected(element) || entryOf(element) || popupLayers.has(element) || !dom.visible(element)) continue;
      if (isBusy(element)) return true;
      const inside = Element.prototype.querySelector.call(element, "[aria-busy=true],[role=progressbar],progress:not([value])");
      if (inside && dom.visible(inside) && element !== document.body && element !== document.documentElement) return true;
      if (dom.matches(element, "a,[role=link]")) continue;
      const text = dom.text(element, 62);
      if (DOTS.test(text) || (text.length <= 40 && WAIT.test(text))) return true;
      const long = dom.text(element, 201);
      if (long.length <= 200 && LASTS.test(long)) return true;
    }
    return false;
  };
  const hasBox = (element) => {
    const box = dom.box(element);
    return box.width > 8 && box.height > 8;
  };
  // Whether there is nothing to read yet in a place where there was: a grey block, or dots.
  const empty = () => {
    let left = 60;
    for (const element of state.emptied) {
      if (left-- <= 0) break;
      if (dom.connected(element) && !entryOf(element) && dom.visible(element) && hasBox(element) && !WORDS.test(dom.text(element, 40))) return true;
    }
    return false;
  };
  const HOLDERS = new Set(["INPUT", "SELECT", "TEXTAREA", "BODY", "HTML", "MAIN", "FORM"]);
  // Whether something glides to its place; what moves for ever is not waited for.
  const moving = () => {
    const begins = state.scrolled < state.scrollKey && now() - state.scrollKey < SCROLLS_MS;
    const glides = now() - state.scrolled < (state.scrollEnd < state.scrolled ? GLIDE_MS : FRAME_MS);
    if (begins || glides) return true;
    let left = 50;
    for (const animation of document.getAnimations()) {
      if (left-- <= 0) break;
      if (animation.playState === "running" && animation.effect?.getComputedTiming().endTime < 1000) return true;
    }
    return false;
  };
  const plainLetters = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  // A mask may put something before or after what was typed: a country's code, the cents, an ending.
  const keeps = (text, typed) => text === typed || (typed !== "" && (text.startsWith(typed) || text.endsWith(typed)));
  const valueOf = (element) => {
    const tag = dom.tag(element);
    if (tag === "INPUT" || tag === "TEXTAREA" || tag === "SELECT") return element.value;
    return element.isContentEditable === true ? dom.text(element, 100000) : null;
  };
  const fieldOf = (selector) => {
    const field = state.field?.deref();
    if (field && dom.connected(field)) return field;
    try { return selector ? dom.inDocument(document, selector)[0] ?? null : null; } catch { return null; }
  };
  // Whether what was refused is the field itself, or the message that stands for it.
  const isOwn = (refused, field) => {
    if (!field) return false;
    if (refused === field) return true;
    const by = `${dom.attribute(field, "aria-describedby") ?? ""} ${dom.attribute(field, "aria-errormessage") ?? ""}`;
    const id = dom.attribute(refused, "id");
    if (id && by.split(/\s+/).includes(id)) return true;
    const around = partOf(field);
    return around !== null && dom.contains(around, refused);
  };
  // The part of the page that is about one field alone.
  const partOf = (field) => {
    let part = null;
    for (let at = dom.parent(field), depth = 0; at && dom.kind(at) === 1 && depth < 3; at = dom.parent(at), depth++) {
      if (dom.tag(at) === "FORM" || at === document.body) break;
      if (Element.prototype.querySelectorAll.call(at, "input:not([type=hidden]),select,textarea").length > 1) break;
      part = at;
    }
    return part;
  };
  // A mark that was there before: a field keeps it until somebody looks at what was entered, which a
  // page does at once or when the form is sent.
  const PRESSED = "button,input[type=submit],input[type=button],[role=button]";
  const refusedAgain = (element, field) => {
    if (element === field) return dom.matches(element, ":user-invalid") || state.changes.has(element) || state.changes.has(partOf(field));
    const form = state.sent?.deref(), pressed = state.inputTarget?.deref();
    if (form) return dom.contains(form, element);
    if (state.stirred || !pressed || dom.kind(pressed) !== 1 || !dom.matches(control(pressed), PRESSED)) return false;
    let around = control(pressed);
    for (let depth = 0; depth < 3 && dom.parent(around) && dom.parent(around) !== document.body; depth++) around = dom.parent(around);
    return dom.contains(around, element);
  };
  const notePopups = () => {
    const found = popups();
    for (const top of found)
      if (!popupLayers.has(top)) { popupLayers.add(top); popupNodes.push(new WeakRef(top)); }
    return found;
  };
  let markedBefore = new Map();
  const popupLayers = new WeakSet(), popupNodes = [];
  return {
    // A call begins: what follows is its doing, until `rest`.
    begin: () => {
      // What came up since the last call did so by itself.
      notePopups();
      state.acting = state.begun = true;
      state.phase++;
      state.stirred = state.waited = false;
      state.field = state.sent = null;
      state.changes.clear();
      state.added.clear();
      state.emptied.clear();
      state.blanked.clear();
      state.pressed = [];
      state.parts.clear();
      state.ignored = false;
      state.invalid.clear();
      state.copies = 0;
      state.input = now();
      state.stored = store();
      state.quietSince = now();
      markedBefore = marked();
      openBefore = layersOpen();
      popupsBefore = new Set([...popupNodes].map((ref) => ref.deref()).filter((top) => top && dom.connected(top) && dom.visible(top)));
    },
    rest: () => { state.acting = false; state.phase++; },
    // Resolves when nothing but what changes by itself has changed for a while, or at the deadline.
    // After a call that has had no effect at all it waits longer: a page may answer late.
    // A page that does not react to input is done as soon as it is drawn.
    // The waits are those of `Patience`, in milliseconds.
    quiet: ({ still, quiet: usual, effect, changes, provisional, ...waits }) => new Promise((done) => {
      const plain = still && (state.begun || (!document.scripts.length && document.readyState !== "loading"));
      const quiet = plain ? waits.plain : usual;
      const last = Math.max(state.input, state.began) + provisional;
      let end = now() + changes;
      const check = () => {
        const t = now();
        const waits = t < last && (state.begun || acting()) && busy();
        if (waits) state.waited = true;
        if (waits || (state.begun && t - state.input < waits.empty && empty())) {
          end = Math.max(end, t + quiet);
          setTimeout(check, 30);
          return;
        }
        // A field is mostly looked at a little after the last letter.
        // A page that changed without asking anybody may show something for the time being.
        const alone = state.stirred && state.begun && state.answered < state.input;
        const least = plain ? quiet : state.field ? Math.max(quiet, waits.typing) : alone ? Math.max(quiet, waits.alone) : quiet;
        const long = plain || state.stirred || !state.begun ? least : Math.max(effect, least);
        const left = moving() ? 20 : long - (t - Math.max(state.quietSince, state.event));
        if (left <= 0 || t >= end) done({ doubtful: doubtful(), suspects: suspects().length });
        else setTimeout(check, Math.max(1, Math.min(left, end - t)));
      };
      setTimeout(check, 0);
    }),
    // Where only timers have changed something, it is seen whether they go on.
    confirm: ({ again, thrice }) => new Promise((done) => {
      const all = suspects();
      const start = now();
      // What came by chance soon after an event may be the first part of an answer, and the next
      // change the second; only what goes on after that, as evenly, does so by itself.
      const until = (entry, needed) => needed === 3 && entry.count === 2
        ? Math.min(entry.last + 1.3 * entry.gap + 100, start + thrice) : start + again;
      const check = () => {
        let left = 0;
        for (const [element, entry, awaited] of all) {
          const needed = entry.chance === state.phase ? 3 : 2;
          if (entry.count >= needed && entry.phase === state.phase) learn(element, entry);
          else if (awaited && now() < until(entry, needed)) left++;
        }
        if (!left) {
          for (const [, entry] of all) entry.tried = state.phase;
          done();
        }
        else setTimeout(check, 40);
      };
      check();
    }),
    // Whether a node is what was clicked on, or around it.
    isPressed: (node) => {
      for (const pressed of state.pressed)
        for (let at = pressed.deref(), depth = 0; at && depth < 200; at = dom.parent(at) ?? at.host, depth++)
          if (at === node) return true;
      return false;
    },
    // Nothing listens where the click fell, so that whatever has changed was not its doing.
    ignoreClick: () => {
      state.ignored = true;
      for (const [element, change] of state.changes) {
        change.synchronous = change.caused = change.sure = false;
        const entry = restless.get(place(element));
        if (entry) entry.chance = undefined;
      }
    },
    restless: entryOf,
    popup: (element) => popupLayers.has(element),
    // What was noticed since the call began; fields that were refused as the numbers of elements.
    report: ({ selector, value, submitted, begins, element } = {}) => {
      if (element && !state.field?.deref()) state.field = new WeakRef(element);
      state.altered = false;
      const found = notePopups();
      state.selector = selector;
      const refused = new Set(state.invalid);
      const field = fieldOf(selector);
      // A document that came as an answer to no form may well speak of errors.
      if (state.begun || submitted)
        for (const [element, text] of marked())
          if (!markedBefore.has(element) || (text && markedBefore.get(element) !== text) || refusedAgain(element, field)) refused.add(element);
      const own = [...refused].filter((one) => isOwn(one, field)).length;
      const text = value === undefined || value === null || !field ? null : valueOf(field);
      return {
        refused, own, copies: state.copies, popups: found.size,
        closed: [...popupsBefore].filter((top) => !dom.connected(top) || !dom.visible(top)).length,
        holds: text === null ? null : keeps(plainLetters(text), plainLetters(value)),
        scrolls: [...scrolls].map(([key, ref]) => `${key}:${Math.round((ref.deref()?.scrollTop ?? 0) / 50)}`).sort().join(" "),
        messages: begins || !(state.begun || submitted) ? [] : messages(),
        stored: state.stored !== undefined && state.stored !== store(),
        busy: !begins && state.begun && busy(),
        waited: state.waited,
        touched: [...state.changes].filter(([element, change]) => change.caused && dom.connected(element)).slice(0, 30).map(([element]) => element),
        suspects: acting() ? suspects().filter(([, entry, awaited]) => awaited && entry.tried !== state.phase).length : 0,
      };
    },
    // A closed root, which the protocol has handed over.
    adopt: (root) => {
      if (!dom.adopt(root)) return;
      state.altered = true;
      watch(root);
      listen(root);
    },
    altered: () => state.altered,
    // An element, as an input event would describe it.
    describe: (element) => ({ kind: "", ...describe(element) }),
  };
}
