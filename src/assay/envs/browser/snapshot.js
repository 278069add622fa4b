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
  const lines = [], bare = [], steady = [], refs = [], unsteady = [], asked = {};
  // What changes by itself, and what came up by itself, is shown but not part of any digest.
  const watcher = (element) =>
    dom.owner(element) === document ? unrest : dom.view(dom.owner(element))?.[key] ?? unrest;
  const calm = (element) => {
    const { restless, popup } = watcher(element);
    return !restless(element) && !popup(element);
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
  // The text of the dialog that a control is in, which says what its "Yes" is an answer to.
  const question = (element) => {
    for (let at = dom.parent(element), depth = 0; at && kind(at) === 1 && depth < 40; at = dom.parent(at), depth++)
      if (dom.modal(at)) return dom.text(at, 300);
    return "";
  };
  const mention = (element, settled) => {
    const role = dom.role(element);
    const name = dom.name(element);
    if (settled) counts[role === "link" ? "links" : role === "button" ? "buttons" : "inputs"]++;
    if (refs.length >= options.refs) {
      short = true;
      return [`${role} ${quote(name, 300)}`, name];
    }
    const id = idOf(element);
    refs.push([id, role, cut(name, 160)]);
    if (!settled) unsteady.push(id);
    const around = dialogs ? question(element) : "";
    if (around) asked[id] = around;
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
  const write = (depth, text, plain, settled = text) => {
    if (settled) steady.push(settled);
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
  const descend = (stack, element, depth, settled) => {
    const tree = inside(element);
    if (tree) mark(tree);
    if (tree && kind(tree) === 9) {
      if (dom.body(tree)) stack.push([dom.body(tree), depth, false, settled]);
      return;
    }
    const slotted = tag(element) === "SLOT" ? element.assignedNodes({ flatten: true }) : [];
    for (let i = Math.min(slotted.length, options.nodes) - 1; i >= 0; i--)
      stack.push([slotted[i], depth, false, settled]);
    const child = dom.first(tree ?? element);
    if (child && !slotted.length) stack.push([child, depth, true, settled]);
  };
  // The text of a run without blocks inside, with its interactive elements in place.
  const inline = (root, settled) => {
    const out = [], plain = [], rest = [];
    let length = 0;
    const stack = [];
    const add = (settled, text, name) => {
      out.push(text);
      plain.push(name ?? text);
      if (settled) rest.push(text);
      length += text.length;
    };
    visited++;
    descend(stack, root, 0, settled);
    while (stack.length && within() && length < options.chars) {
      const [node, , more, around] = stack.pop();
      if (more && dom.next(node)) stack.push([dom.next(node), 0, true, around]);
      visited++;
      if (kind(node) === 3) add(around, node.data.slice(0, options.chars));
      if (kind(node) !== 1 || dom.SKIP.has(tag(node)) || !visible(node)) continue;
      const settled = around && calm(node);
      if (isControl(node) || isClickable(node)) {
        const [text, name] = mention(node, settled);
        add(settled, ` ${text} `, ` ${name} `);
        continue;
      }
      if (tag(node) === "IMG" && attribute(node, "alt"))
        add(settled, ` image ${quote(fold(attribute(node, "alt").slice(0, 300)), 120)} `);
      if (tag(node) === "BR") add(settled, " ");
      descend(stack, node, 0, settled);
    }
    return [fold(out.join("")), fold(plain.join("")), fold(rest.join(""))];
  };
  const writeRow = (row, depth, settled) => {
    const out = [], plain = [], rest = [];
    for (let cell = dom.first(row); cell && within(); cell = dom.next(cell)) {
      if (kind(cell) !== 1 || !/^T[DH]$/.test(tag(cell))) continue;
      const [text, name, kept] = inline(cell, settled && calm(cell));
      out.push(text);
      plain.push(name);
      rest.push(kept);
    }
    write(depth, "row " + out.join(" | "), plain.join(" "), settled ? rest.join(" | ") : "");
  };
  const writeFrame = (element, depth, settled) => {
    const label = fold((attribute(element, "title") || attribute(element, "src") || "").slice(0, 400));
    const open = inside(element) !== null;
    const line = `frame ${quote(label, 160)}${open ? "" : " (another site: not shown)"}`;
    write(depth, line, undefined, settled ? line : "");
    return open;
  };
  const writeLandmark = (element, name, depth, settled) => {
    const label = fold((attribute(element, "aria-label") ?? "").slice(0, 300));
    const line = name + (label ? ` ${quote(label, 120)}` : "");
    write(depth, line, label, settled ? line : "");
  };
  const landmark = (element) =>
    (attribute(element, "role") ?? "").trim().slice(0, 40) || LANDMARK[tag(element)];
  // What one element adds; true when what is inside is still to be visited.
  const enter = (element, depth, settled) => {
    const name = tag(element);
    const nested = blocky.has(element) || dom.shadow(element);
    if (isControl(element) || isClickable(element)) {
      const [text, plain] = mention(element, settled);
      write(depth, text, plain, settled ? text : "");
      return !isControl(element) && Boolean(nested);
    }
    if (name === "TR") {
      writeRow(element, depth, settled);
      return false;
    }
    if (/^H[1-6]$/.test(name)) {
      if (settled) counts.headings++;
      const [text, plain, rest] = inline(element, settled);
      write(depth, `heading ${JSON.stringify(text)}`, plain, rest);
      return false;
    }
    if (name === "FORM" && settled) counts.forms++;
    if (name === "IFRAME") return writeFrame(element, depth, settled);
    if (landmark(element)) {
      writeLandmark(element, landmark(element), depth, settled);
      return true;
    }
    if (nested) return true;
    write(depth, ...inline(element, settled));
    return false;
  };
  const walk = (root) => {
    const stack = [[root, 0, false, true]];
    while (stack.length && within()) {
      const [node, depth, more, around] = stack.pop();
      if (more && dom.next(node)) stack.push([dom.next(node), depth, true, around]);
      visited++;
      if (kind(node) === 3) {
        const text = fold(node.data.slice(0, options.chars));
        write(depth, text, text, around ? text : "");
      }
      if (kind(node) !== 1 || dom.SKIP.has(tag(node))) continue;
      const body = tag(node) === "BODY";
      if (!body && !visible(node)) continue;
      const settled = around && calm(node);
      if (body || enter(node, depth, settled))
        descend(stack, node, depth + (!body && landmark(node) ? 1 : 0), settled);
    }
  };
  // Tags of the first levels, without text, ids or classes: what stays when only the content changes.
  const skeleton = (body) => {
    const out = [];
    let level = body ? [body] : [];
    for (let depth = 0; depth < 3 && out.length < 64; depth++) {
      const next = [];
      for (const element of level) {
        const children = dom.children(element);
        for (let i = 0; i < children.length && out.length < 64; i++) {
          if (dom.SKIP.has(tag(children[i])) || unrest.popup(children[i])) continue;
          out.push(`${depth}${tag(children[i]).slice(0, 40)} ${(attribute(children[i], "role") ?? "").slice(0, 40)}`);
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

  const report = unrest.report(options.field ?? {});
  const dialogs = dom.inDocument(document, "dialog,[role=dialog],[role=alertdialog]").length > 0;
  mark(document);
  const body = dom.body(document);
  if (body) walk(body);
  store.elements = seen;
  const texts = {}, selected = {};
  for (const selector of options.selectors) {
    const matched = select(selector);
    if (!matched) continue;
    selected[selector] = matched.length;
    if (options.texts.includes(selector) && matched.length) texts[selector] = dom.text(matched[0], 10000);
  }
  const html = dom.html(document);
  const pixels = html ? html.scrollHeight : 0;
  const result = {
    url: location.href.slice(0, 8192),
    title: fold(cut(dom.title(document) ?? "", 300)),
    text: lines.join("\n"),
    plain: bare.join("\n"),
    steady: steady.join("\n").slice(0, options.chars),
    unsteady,
    asked,
    refused: [...report.refused].map((field) => store.ids.get(field) ?? 0),
    own: report.own,
    holds: report.holds,
    copies: report.copies,
    popups: report.popups,
    scrolls: report.scrolls,
    omitted,
    short,
    refs,
    next: store.next,
    skeleton: skeleton(body),
    forms: forms >>> 0,
    counts: selected,
    texts,
    scroll: [Math.round(scrollY), Math.round(pixels), innerHeight],
  };
  // Half of a surrogate pair cannot be written as UTF-8.
  return JSON.stringify(result, (_, value) => (typeof value === "string" ? value.toWellFormed() : value));
}
