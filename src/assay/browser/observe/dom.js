// Reading the document past what a page can put in the way. The scripts run in a context of ours,
// where no page script has touched a prototype; but a form, and the document itself, answer with
// their own children when one is named like a property (<input name="tagName">). So properties
// are read through the prototypes.
() => {
  const getter = (prototype, name) => {
    const get = Object.getOwnPropertyDescriptor(prototype, name).get;
    return (node) => get.call(node);
  };
  const method = (prototype, name) => {
    const call = prototype[name];
    return (node, ...values) => call.apply(node, values);
  };
  const tagName = getter(Element.prototype, "tagName");
  const attribute = method(Element.prototype, "getAttribute");
  const labels = (element) => {
    try { return element.labels ?? null; } catch { return null; }
  };
  const [scrollTop, scrollHeight, clientHeight] = ["scrollTop", "scrollHeight", "clientHeight"].map((name) => getter(Element.prototype, name));
  const openRoot = getter(Element.prototype, "shadowRoot"), closedRoots = new WeakMap();
  const SKIP = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "META", "LINK"]);
  const INPUT_ROLE = {
    checkbox: "checkbox", radio: "radio", button: "button", submit: "button", reset: "button",
    image: "button", range: "slider", file: "file", password: "password", search: "searchbox",
    number: "spinbutton", date: "date",
  };
  const dom = {
    SKIP,
    attribute,
    tag: (element) => tagName(element).toUpperCase(),
    kind: getter(Node.prototype, "nodeType"),
    first: getter(Node.prototype, "firstChild"),
    next: getter(Node.prototype, "nextSibling"),
    parent: getter(Node.prototype, "parentNode"),
    connected: getter(Node.prototype, "isConnected"),
    owner: getter(Node.prototype, "ownerDocument"),
    root: method(Node.prototype, "getRootNode"),
    contains: method(Node.prototype, "contains"),
    // A closed root is known once it has been handed over.
    shadow: (element) => openRoot(element) ?? closedRoots.get(element) ?? null,
    isClosed: (element) => closedRoots.has(element),
    adopt: (root) => {
      if (closedRoots.has(root.host)) return false;
      closedRoots.set(root.host, root);
      return true;
    },
    children: getter(Element.prototype, "children"),
    matches: method(Element.prototype, "matches"),
    checkVisibility: method(Element.prototype, "checkVisibility"),
    box: method(Element.prototype, "getBoundingClientRect"),
    boxes: method(Element.prototype, "getClientRects"),
    scrollTo: method(Element.prototype, "scrollIntoView"),
    // How far down it is scrolled, and how far it can be; what begins at its end counts up from there.
    scrolled: (element) => {
      const range = scrollHeight(element) - clientHeight(element), top = scrollTop(element);
      return [getComputedStyle(element).flexDirection.endsWith("reverse") ? range + top : top, range];
    },
    dispatch: method(EventTarget.prototype, "dispatchEvent"),
    body: getter(Document.prototype, "body"),
    title: getter(Document.prototype, "title"),
    focused: getter(Document.prototype, "activeElement"),
    html: getter(Document.prototype, "documentElement"),
    view: getter(Document.prototype, "defaultView"),
    inDocument: method(Document.prototype, "querySelectorAll"),
    inShadow: method(DocumentFragment.prototype, "querySelectorAll"),
    byId: (root, id) =>
      (root instanceof Document || dom.kind(root) === 9 ? Document : DocumentFragment)
        .prototype.getElementById.call(root, id),
    labels,
  };
  // An element that gives its place to its children (display: contents) has no box of its own.
  dom.visible = (element) =>
    dom.checkVisibility(element, { opacityProperty: true, visibilityProperty: true }) ||
    getComputedStyle(element).display === "contents";
  dom.modal = (element) =>
    dom.tag(element) === "DIALOG" || /^(alert)?dialog$/.test(attribute(element, "role") ?? "");
  dom.fold = (text) => text.replace(/[\s\x00-\x1f\x7f]+/g, " ").trim();
  dom.cut = (text, limit) => (text.length > limit ? text.slice(0, limit - 1) + "…" : text);
  // The visible text below a node, at most `limit` characters from at most 400 nodes.
  dom.text = (root, limit) => {
    let out = "", left = 400;
    const stack = [dom.first(root)];
    while (stack.length && left-- > 0 && out.length < limit) {
      const node = stack.pop();
      if (!node) continue;
      stack.push(dom.next(node));
      const kind = dom.kind(node);
      if (kind === 3) out += node.data.slice(0, limit);
      else if (kind === 1 && !SKIP.has(dom.tag(node)) && dom.visible(node)) {
        out += " ";
        stack.push(dom.first(node));
      }
    }
    return dom.fold(out.slice(0, limit));
  };
  dom.role = (element) => {
    const role = attribute(element, "role");
    if (role && role.trim()) return role.trim().split(/\s+/)[0].slice(0, 40);
    const tag = dom.tag(element);
    if (tag === "A") return "link";
    if (tag === "BUTTON" || tag === "SUMMARY") return "button";
    if (tag === "TEXTAREA") return "textbox";
    if (tag === "SELECT") return "combobox";
    if (tag === "INPUT") return INPUT_ROLE[element.type] ?? "textbox";
    return element.isContentEditable === true ? "textbox" : "clickable";
  };
  dom.name = (element) => {
    const ariaLabel = dom.fold((attribute(element, "aria-label") ?? "").slice(0, 600));
    if (ariaLabel) return ariaLabel;
    const by = attribute(element, "aria-labelledby");
    if (by) {
      const root = dom.root(element);
      const others = by.slice(0, 400).split(/\s+/).slice(0, 8).map((id) => id && dom.byId(root, id));
      const named = dom.fold(others.map((other) => (other ? dom.text(other, 300) : "")).join(" "));
      if (named) return named;
    }
    const tag = dom.tag(element);
    const label = labels(element)?.[0];
    if (label && dom.text(label, 300)) return dom.text(label, 300);
    if (tag === "INPUT" && ["button", "submit", "reset"].includes(element.type))
      return dom.fold(element.value.slice(0, 300) || element.type);
    const own = ["SELECT", "TEXTAREA", "INPUT"].includes(tag) ? "" : dom.text(element, 300);
    if (own) return own;
    const image = Element.prototype.querySelector.call(element, "img[alt]");
    const other = ["placeholder", "title", "alt"].map((key) => attribute(element, key));
    const last = [...other, image && attribute(image, "alt"), attribute(element, "name")];
    return dom.fold((last.find((text) => text) ?? "").slice(0, 300));
  };
  return dom;
}
