// One look at a page: the text an agent reads, with numbered elements, and what digests are made of.
// Bounded: at most `nodes` nodes are visited, `chars` characters written, `refs` elements numbered.
(dom, store, unrest, key) => (options) => {
  const BLOCK =
    "p,div,ul,ol,li,table,tr,section,form,h1,h2,h3,h4,h5,h6,nav,main,header,footer,article,aside," +
    "fieldset,pre,blockquote,dl,dt,dd,figure,hr,iframe,label";
  const CONTROL =
    "a[href],button,input:not([type=hidden]),select,textarea,summary,[role=button],[role=link]," +
    "[role=checkbox],[role=radio],[role=tab],[role=menuitem],[role=option],[role=switch]," +
    "[role=textbox],[role=combobox],[contenteditable=''],[contenteditable=true]";
  // Also found around whole pages, so that what is inside is read as well.
  const CLICKABLE = "[onclick],[tabindex]:not([tabindex='-1'])";
  const LANDMARK = {
    NAV: "navigation", MAIN: "main", HEADER: "banner", FOOTER: "contentinfo", ASIDE: "complementary",
    FORM: "form", SECTION: "region", ARTICLE: "article", TABLE: "table", DIALOG: "dialog",
  };
  const { fold, cut, tag, kind, attribute, visible } = dom;
  const quote = (text, limit) => JSON.stringify(cut(text, limit));
  const seen = new Map();
  let visited = 0, written = 0, omitted = 0, short = false;
  // Elements that may have a closed root: what is seen and has nothing in it, and what has a name of its own.
  const HOSTS = new Set(["DIV", "SPAN", "SECTION", "ARTICLE", "MAIN", "ASIDE", "P", "HEADER", "FOOTER", "NAV"]);
  const hosts = [];
  const mayHost = (element) => {
    const name = tag(element);
    if (hosts.length >= 10 || dom.shadow(element) || store.asked.has(element)) return;
    const own = name.includes("-");
    if (!own && (!HOSTS.has(name) || dom.first(element))) return;
    const box = dom.box(element);
    if (!own && box.width * box.height < 400) return;
    store.asked.add(element);
    hosts.push(element);
  };
  const lines = [], bare = [], steady = [], refs = [], steadyRefs = [], restlessBoxes = [];
  // What changes by itself, and what came up by itself, is shown but not part of any digest.
  const watcher = (element) =>
    dom.owner(element) === document ? unrest : dom.view(dom.owner(element))?.[key] ?? unrest;
  // In their place stands what was there when they were last taken for a part of the page.
  const isIn = (trail, element) => {
    for (let at = trail; at; at = at.up) if (at.element === element) return true;
    return false;
  };
  const tagsIn = (below, element) =>
    (below.get(element) ?? []).flatMap(([child, line]) => [line, ...tagsIn(below, child)]);
  const freeze = (element, entry) => {
    if (entry.frozen) return entry.frozen;
    if (entry.turned) return (entry.frozen = { text: dom.text(element, 400), refs: [], tags: [] });
    const before = store.before ?? { pieces: [], refs: [], below: new Map() };
    return (entry.frozen = {
      text: before.pieces.filter(([, trail]) => isIn(trail, element)).map(([text]) => text).join(""),
      refs: before.refs.filter(([, , trail]) => isIn(trail, element)).map(([role, name]) => [role, name]),
      tags: tagsIn(before.below, element),
    });
  };
  // Whether an element is a steady part of the page, which its surroundings must be as well.
  const settles = (element, around, trail) => {
    if (!around) return false;
    const { restless, popup } = watcher(element);
    const isPopup = popup(element), entry = restless(element);
    if (!entry && !isPopup) return true;
    const box = dom.box(element);
    if (restlessBoxes.length < 50) restlessBoxes.push([box.x, box.y, box.width, box.height]);
    if (isPopup) return false;
    const { text, refs: those } = freeze(element, entry);
    if (text) steady.push([text, trail]);
    for (const [role, name] of those) steadyRefs.push([role, name, trail]);
    return false;
  };
  const counts = { forms: 0, buttons: 0, inputs: 0, links: 0, headings: 0 };
  let forms = 0x811c9dc5;

  const idOf = (element) => {
    let id = store.ids.get(element);
    if (id === undefined) {
      id = store.next++;
      store.ids.set(element, id);
    }
    seen.set(id, new WeakRef(element));
    return id;
  };
  // A running hash of everything typed, because lines show only the beginning of a long value.
  const remember = (text) => {
    const end = Math.min(text.length, 100000);
    for (let i = 0; i < end; i++) forms = Math.imul(forms ^ text.charCodeAt(i), 0x01000193);
    forms = Math.imul(forms ^ text.length, 0x01000193);
  };
  const typedIn = (element, type) => {
    const value = element.value;
    if (!value || type === "file") return [];
    // Of a password only that it is there; nothing of it may be guessed from a digest.
    if (type === "password") return [`value=(${value.length} characters)`];
    remember(value);
    return [`value=${quote(value.slice(0, 400), 200)}`];
  };
  const chosenIn = (element) => {
    const all = [];
    for (let i = 0; i < element.options.length && i < 60; i++)
      all.push(fold(element.options[i].label.slice(0, 200)));
    const chosen = fold((element.selectedOptions[0]?.label ?? "").slice(0, 200));
    remember(`${element.selectedIndex}`);
    return [`value=${quote(chosen, 200)}`, `options=${quote(all.join(" | "), 400)}`];
  };
  const stateOf = (element, name, role) => {
    const state = [];
    if (name === "INPUT" && ["checkbox", "radio"].includes(element.type))
      state.push(element.checked ? "checked" : "unchecked");
    else if ((name === "INPUT" && role !== "button") || name === "TEXTAREA")
      state.push(...typedIn(element, element.type));
    else if (name === "SELECT") state.push(...chosenIn(element));
    else if (name === "A") {
      const href = attribute(element, "href");
      if (href && !/^\s*javascript:/i.test(href)) state.push(`-> ${cut(fold(href.slice(0, 400)), 200)}`);
    }
    if (["BUTTON", "INPUT", "SELECT", "TEXTAREA"].includes(name) && element.disabled) state.push("disabled");
    for (const key of ["expanded", "checked", "selected", "pressed"]) {
      const value = attribute(element, `aria-${key}`);
      if (value) state.push(`${key}=${value.slice(0, 20)}`);
    }
    return state.length ? " " + fold(state.join(" ")) : "";
  };
  // What changes its own words is still there, and is counted; what is inside something restless is not.
  const mention = (element, settled, trail, there) => {
    const role = dom.role(element);
    const name = dom.name(element);
    if (there) counts[role === "link" ? "links" : role === "button" ? "buttons" : "inputs"]++;
    if (refs.length >= options.refs) {
      short = true;
      return [`${role} ${quote(name, 300)}`, name];
    }
    const id = idOf(element);
    refs.push([id, role, cut(name, 160)]);
    if (settled) steadyRefs.push([role, cut(name, 160), trail]);
    return [`[${id}] ${role} ${quote(name, 300)}${stateOf(element, tag(element), role)}`, name];
  };
  const isControl = (element) => dom.matches(element, CONTROL);
  const isClickable = (element) =>
    dom.matches(element, CLICKABLE) ||
    (options.all && !dom.children(element).length && dom.text(element, 20) !== "");
  const within = () => {
    if (visited < options.nodes) return true;
    short = true;
    return false;
  };
  const keep = (text, trail) => steady.push([text, trail]);
  const write = (depth, text, plain) => {
    if (!text) return;
    const line = "  ".repeat(Math.min(depth, 8)) + text;
    if (written + line.length + 1 > options.chars) {
      omitted += line.length + 1;
      return;
    }
    written += line.length + 1;
    lines.push(line);
    if (plain) bare.push(plain);
  };

  // Which elements have a block somewhere inside, for a whole tree at once: asking each element
  // for itself takes a time that grows with depth times size.
  const blocky = new WeakSet();
  const trees = new WeakSet();
  const mark = (tree) => {
    if (trees.has(tree)) return;
    trees.add(tree);
    const blocks = kind(tree) === 9 ? dom.inDocument(tree, BLOCK) : dom.inShadow(tree, BLOCK);
    for (let i = 0; i < blocks.length && i < 5 * options.nodes; i++) {
      let above = dom.parent(blocks[i]);
      while (above && kind(above) === 1 && !blocky.has(above)) {
        blocky.add(above);
        above = dom.parent(above);
      }
    }
  };
  const inside = (element) => {
    if (tag(element) === "IFRAME") {
      try { return element.contentDocument; } catch { return null; }
    }
    return dom.shadow(element);
  };
  // Puts what is inside an element on the stack, so that it is met in the order of the page.
  const descend = (stack, element, depth, settled, above) => {
    const trail = { element, up: above };
    const tree = inside(element);
    if (tree) { mark(tree); store.deep = true; }
    if (tree && kind(tree) === 9) {
      if (dom.body(tree)) stack.push([dom.body(tree), depth, false, settled, trail]);
      return;
    }
    const slotted = tag(element) === "SLOT" ? element.assignedNodes({ flatten: true }) : [];
    for (let i = Math.min(slotted.length, options.nodes) - 1; i >= 0; i--)
      stack.push([slotted[i], depth, false, settled, trail]);
    const child = dom.first(tree ?? element);
    if (child && !slotted.length) stack.push([child, depth, true, settled, trail]);
  };
  // The text of a run without blocks inside, with its interactive elements in place.
  const inline = (root, settled, above) => {
    const out = [], plain = [];
    let length = 0;
    const stack = [];
    const add = (settled, trail, text, name) => {
      out.push(text);
      plain.push(name ?? text);
      if (settled) keep(text, trail);
      length += text.length;
    };
    visited++;
    descend(stack, root, 0, settled, above);
    while (stack.length && within() && length < options.chars) {
      const [node, , more, around, trail] = stack.pop();
      if (more && dom.next(node)) stack.push([dom.next(node), 0, true, around, trail]);
      visited++;
      if (kind(node) === 3) add(around, trail, node.data.slice(0, options.chars));
      if (kind(node) !== 1 || dom.SKIP.has(tag(node)) || !visible(node)) continue;
      mayHost(node);
      const settled = settles(node, around, trail);
      const own = { element: node, up: trail };
      if (isControl(node) || isClickable(node)) {
        const [text, name] = mention(node, settled, own, settled || (around && !watcher(node).popup(node)));
        add(settled, own, ` ${text} `, ` ${name} `);
        continue;
      }
      if (tag(node) === "IMG" && attribute(node, "alt"))
        add(settled, own, ` image ${quote(fold(attribute(node, "alt").slice(0, 300)), 120)} `);
      if (tag(node) === "BR") add(settled, trail, " ");
      descend(stack, node, 0, settled, trail);
    }
    if (settled) keep("\n", { element: root, up: above });
    return [fold(out.join("")), fold(plain.join(""))];
  };
  const writeRow = (row, depth, settled, trail) => {
    const out = [], plain = [];
    const own = { element: row, up: trail };
    for (let cell = dom.first(row); cell && within(); cell = dom.next(cell)) {
      if (kind(cell) !== 1 || !/^T[DH]$/.test(tag(cell))) continue;
      const [text, name] = inline(cell, settles(cell, settled, own), own);
      out.push(text);
      plain.push(name);
    }
    write(depth, "row " + out.join(" | "), plain.join(" "));
  };
  const writeFrame = (element, depth, settled, trail) => {
    const label = fold((attribute(element, "title") || attribute(element, "src") || "").slice(0, 400));
    const open = inside(element) !== null;
    const line = `frame ${quote(label, 160)}${open ? "" : " (another site: not shown)"}`;
    write(depth, line);
    if (settled) keep(`${line}\n`, { element, up: trail });
    return open;
  };
  const writeLandmark = (element, name, depth, settled, trail) => {
    const label = fold((attribute(element, "aria-label") ?? "").slice(0, 300));
    const line = name + (label ? ` ${quote(label, 120)}` : "");
    write(depth, line, label);
    if (settled) keep(`${line}\n`, { element, up: trail });
  };
  const landmark = (element) =>
    (attribute(element, "role") ?? "").trim().slice(0, 40) || LANDMARK[tag(element)];
  // What one element adds; true when what is inside is still to be visited.
  const enter = (element, depth, settled, trail, there) => {
    const name = tag(element);
    const nested = blocky.has(element) || dom.shadow(element) || (tag(element).includes("-") && dom.first(element));
    if (isControl(element) || isClickable(element)) {
      const own = { element, up: trail };
      const [text, plain] = mention(element, settled, own, there);
      write(depth, text, plain);
      if (settled) keep(`${text}\n`, own);
      return !isControl(element) && Boolean(nested);
    }
    if (name === "TR") {
      writeRow(element, depth, settled, trail);
      return false;
    }
    if (/^H[1-6]$/.test(name)) {
      if (there) counts.headings++;
      const [text, plain] = inline(element, settled, trail);
      write(depth, `heading ${JSON.stringify(text)}`, plain);
      return false;
    }
    if (name === "FORM" && there) counts.forms++;
    if (name === "IFRAME") return writeFrame(element, depth, settled, trail);
    if (landmark(element)) {
      writeLandmark(element, landmark(element), depth, settled, trail);
      return true;
    }
    if (nested) return true;
    write(depth, ...inline(element, settled, trail));
    return false;
  };
  const walk = (root) => {
    const stack = [[root, 0, false, true, null]];
    while (stack.length && within()) {
      const [node, depth, more, around, trail] = stack.pop();
      if (more && dom.next(node)) stack.push([dom.next(node), depth, true, around, trail]);
      visited++;
      if (kind(node) === 3) {
        const text = fold(node.data.slice(0, options.chars));
        write(depth, text, text);
        if (around && text) keep(`${text}\n`, trail);
      }
      if (kind(node) !== 1 || dom.SKIP.has(tag(node))) continue;
      const body = tag(node) === "BODY";
      if (!body && !visible(node)) continue;
      mayHost(node);
      const settled = settles(node, around, trail);
      const there = settled || (around && !watcher(node).popup(node));
      if (body || enter(node, depth, settled, trail, there))
        descend(stack, node, depth + (!body && landmark(node) ? 1 : 0), settled, trail);
    }
  };
  // Tags of the first levels, without text, ids or classes: what stays when only the content changes.
  const below = new Map();
  const skeleton = (body) => {
    const out = [];
    let level = body ? [body] : [];
    for (let depth = 0; depth < 3 && out.length < 64; depth++) {
      const next = [];
      for (const element of level) {
        const entry = unrest.restless(element);
        if (entry) {
          const { tags } = freeze(element, entry);
          below.set(element, tags.map((line) => [null, line]));
          out.push(...tags);
          continue;
        }
        const children = dom.children(element), lines = [];
        below.set(element, lines);
        for (let i = 0; i < children.length && out.length < 64; i++) {
          if (dom.SKIP.has(tag(children[i])) || unrest.popup(children[i])) continue;
          lines.push([children[i], `${depth}${tag(children[i]).slice(0, 40)} ${(attribute(children[i], "role") ?? "").slice(0, 40)}`]);
          out.push(lines.at(-1)[1]);
          next.push(children[i]);
        }
      }
      level = next;
    }
    const log = (n) => (n ? 1 + Math.floor(Math.log2(n)) : 0);
    for (const [name, count] of Object.entries(counts)) out.push(name + log(count));
    return out;
  };
  const select = (selector) => {
    try { return dom.inDocument(document, selector); } catch { return null; }
  };

  // Whether something that can be seen is in the way, rather than a field among others.
  const inTheWay = (element) => {
    if (!visible(element) || element.closest(".grecaptcha-badge")) return false;
    const box = dom.box(element);
    if (tag(element) === "IFRAME" && (box.width < 100 || box.height < 40)) return false;
    const form = element.closest("form");
    if (!form) return true;
    for (const field of Element.prototype.querySelectorAll.call(form, "input:not([type=hidden]):not([type=submit]):not([type=checkbox]),textarea,select"))
      if (visible(field)) return false;
    return true;
  };
  // The window that covers the page so that nothing else can be reached, if there is one.
  const overPage = () => {
    const layerAt = (x, y) => {
      let at = document.elementFromPoint(innerWidth * x, innerHeight * y);
      for (let depth = 0; at && kind(at) === 1 && depth < 40; at = dom.parent(at), depth++) {
        if (at === dom.body(document) || at === dom.html(document)) return null;
        if (dom.modal(at) || attribute(at, "aria-modal") === "true" || getComputedStyle(at).position === "fixed") return at;
      }
      return null;
    };
    const around = [[0.05, 0.5], [0.95, 0.5], [0.5, 0.95]];
    const middle = [layerAt(0.5, 0.5), layerAt(0.5, 0.4), layerAt(0.5, 0.3)].filter((at) => at);
    if (!middle.length || around.filter(([x, y]) => layerAt(x, y)).length < 2) return null;
    // What covers the page is often an empty sheet, with the window beside it.
    const modals = dom.inDocument(document, "dialog,[role=dialog],[role=alertdialog],[aria-modal=true]");
    for (const at of [...middle, ...[...modals].slice(0, 20)])
      if (visible(at) && find(at, "button,[role=button],a,input,iframe").length) return at;
    return null;
  };
  const find = (root, selector) => Element.prototype.querySelectorAll.call(root, selector);
  const CLOSES = /^([×✕✖✗x]|close|dismiss|skip|not now|no thanks|later|schlie(ß|ss)en|sp(ä|a)ter|fermer|plus tard|cerrar|fechar|chiudi|sluiten|закрыть|关闭|關閉|閉じる|닫기|اغلاق|إغلاق)$/i;
  const closable = (top) => {
    for (const button of find(top, "button,[role=button],a"))
      if (visible(button) && (CLOSES.test(dom.name(button)) || /(^|[-_ ])close/i.test(attribute(button, "class") ?? ""))) return true;
    return false;
  };
  const wall = () => {
    const html = dom.html(document), body = dom.body(document);
    if (!html || !body) return "";
    let password = false;
    for (const field of dom.inDocument(document, "input[type=password]")) password ||= visible(field);
    const top = overPage();
    if (top) {
      const within = (selector) => [...find(top, selector)].some((element) => visible(element));
      if (within("input[type=password]")) return "login";
      if (within("iframe[src*=captcha i],iframe[title*=captcha i],.g-recaptcha,.h-captcha,.cf-turnstile")) return "captcha";
      const labelled = /cookie|consent|gdpr|newsletter|promo|survey/i.test(`${attribute(top, "id")} ${attribute(top, "class")} ${attribute(top, "aria-label")}`);
      if (!labelled && within("button,[role=button],a,input") && !within("input[type=email],input[type=text],textarea") && !closable(top)) return "gate";
    }
    // A login asks for a name and a password, and for nothing else.
    let fields = 0;
    for (const field of dom.inDocument(document, "input:not([type=hidden]):not([type=submit]):not([type=checkbox]),textarea,select"))
      if (fields < 10 && visible(field)) fields++;
    if (password && fields <= 2 && written < 700) return "lone";
    // A code that was sent by another way: one short field for digits, and nothing else to fill in.
    for (const field of dom.inDocument(document, "input[autocomplete=one-time-code],input[inputmode=numeric],input[type=tel],input[type=number]")) {
      if (!visible(field)) continue;
      if (attribute(field, "autocomplete") === "one-time-code") return "code";
      const length = Number(attribute(field, "maxlength") ?? 0);
      if (fields <= 1 && length >= 4 && length <= 8 && written < 700) return "digits";
    }
    return "";
  };
  // Forms that can be sent, by their fields, with whether something stands in them.
  const sendable = () => {
    const out = [];
    for (const form of dom.inDocument(document, "form")) {
      if (out.length >= 20) break;
      if ((attribute(form, "method") ?? "").toLowerCase() !== "post" || !visible(form)) continue;
      const names = [], typed = [];
      for (const field of find(form, "input:not([type=hidden]),textarea,select")) {
        if (names.length >= 40) break;
        names.push(`${attribute(field, "name") ?? ""}:${field.type}`.slice(0, 80));
        if (["text", "email", "tel", "number", "search", "url", "textarea"].includes(field.type) && field.value) typed.push(1);
      }
      const secret = names.some((name) => name.endsWith(":password"));
      if (names.length) out.push([names.sort().join(" ").slice(0, 400), secret, typed.length > 0]);
    }
    return out;
  };
  const caret = () => {
    const element = dom.focused(document);
    if (!element || !(dom.matches(element, "input,textarea,select,button,a") || element.isContentEditable)) return null;
    const box = dom.box(element);
    return [box.x, box.y, box.width, box.height];
  };
  // Where a change may be seen that nothing else tells of: pictures, and what the call has touched.
  let pictures = false;
  const drawn = () => {
    const out = [], images = [...dom.inDocument(document, "canvas,svg,img,object,embed")];
    for (const [n, element] of [...images, ...report.touched].slice(0, 200).entries()) {
      if (out.length >= 40) break;
      const box = dom.box(element);
      if (box.width * box.height > 60 && element !== dom.body(document) && visible(element)) {
        out.push([box.x, box.y, box.width, box.height]);
        pictures ||= n < images.length;
      }
      if (element === dom.body(document)) out.push([0, 0, innerWidth, innerHeight]);
    }
    return out;
  };
  // An anchor on the page is a place to look at, not another page.
  const address = () => {
    const href = location.href.slice(0, 8192);
    const anchor = decodeURI(location.hash.slice(1).replace(/%(?![0-9a-f]{2})/gi, ""));
    const named = !anchor || anchor === "top" || (anchor.length < 200 && dom.byId(document, anchor));
    return named ? href.replace(/#.*$/, "") : href;
  };

  const element = options.field.ref && store.elements.get(options.field.ref)?.deref();
  const report = unrest.report({ ...options.field, element });
  const rested = options.rests && !report.suspects && !report.waited;
  store.deep = false;
  mark(document);
  const body = dom.body(document);
  if (body) walk(body);
  store.elements = seen;
  store.hosts = hosts;
  store.latest = { pieces: steady, refs: steadyRefs, below };
  if (options.field.begins || rested) store.before = store.latest;
  if (rested) unrest.rest();
  const texts = {}, selected = {};
  for (const selector of options.blocks) {
    const matched = select(selector) ?? [];
    selected[selector] = selector === "*" || selector === "noscript"
      ? matched.length : [...matched].slice(0, 50).filter(inTheWay).length;
  }
  for (const selector of options.selectors) {
    const matched = select(selector);
    if (!matched) continue;
    selected[selector] = matched.length;
    if (matched.length) texts[selector] = dom.text(matched[0], 10000);
  }
  const html = dom.html(document);
  const pixels = html ? html.scrollHeight : 0;
  const result = {
    url: location.href.slice(0, 8192),
    place: address(),
    wall: wall(),
    sendable: sendable(),
    title: fold(cut(dom.title(document) ?? "", 300)),
    text: lines.join("\n"),
    plain: bare.join("\n"),
    steady: steady.map(([text]) => text).join("").slice(0, options.chars),
    steady_refs: steadyRefs.map(([role, name]) => [role, name]),
    refused: [...report.refused].map((field) => store.ids.get(field) ?? 0),
    own: report.own,
    holds: report.holds,
    copies: report.copies,
    popups: report.popups,
    closed: report.closed,
    suspects: report.suspects,
    messages: report.messages,
    busy: report.busy,
    stored: report.stored,
    waited: report.waited,
    rested,
    hosts: hosts.length,
    scrolls: report.scrolls,
    omitted,
    short,
    refs,
    next_ref: store.next,
    skeleton: skeleton(body),
    forms: forms >>> 0,
    counts: selected,
    texts,
    scroll: [Math.round(scrollY), Math.round(pixels), innerHeight],
    width: innerWidth,
    focus: caret(),
    restless: restlessBoxes,
    drawn: drawn(),
    pictures,
  };
  // Half of a surrogate pair cannot be written as UTF-8.
  return JSON.stringify(result, (_, value) => (typeof value === "string" ? value.toWellFormed() : value));
}
