// One verb on one numbered element, in the context that snapshot.js numbered it in.
// Errors are in the words that tools use, so that their first words tell what kind they are.
(dom, store) => (options) => {
  const fail = (error) => ({ error });
  const element = store.elements.get(options.id)?.deref();
  if (options.id >= store.next) return fail(`Element not found: there is no element ${options.id}`);
  if (!element || !dom.connected(element))
    return fail(`Ref ${options.id} is stale: it is not on the page as it is now`);
  const tag = dom.tag(element);
  const is = (...names) => names.includes(tag);
  const disabled = () => is("BUTTON", "INPUT", "SELECT", "TEXTAREA") && element.disabled;
  const typed = () => {
    dom.dispatch(element, new Event("input", { bubbles: true }));
    dom.dispatch(element, new Event("change", { bubbles: true }));
  };
  const hitAt = (x, y) => {
    const root = dom.root(element);
    const owner = dom.kind(root) === 9 ? Document.prototype : ShadowRoot.prototype;
    return owner.elementFromPoint.call(root, x, y);
  };
  const belongs = (hit) =>
    hit === element || dom.contains(element, hit) || dom.contains(hit, element) ||
    [...(dom.labels(element) ?? [])].some((label) => dom.contains(label, hit));
  const inWindow = (x, y) => {
    for (let view = dom.view(dom.owner(element)); view?.frameElement; view = view.parent) {
      const frame = dom.box(view.frameElement);
      x += frame.x + view.frameElement.clientLeft;
      y += frame.y + view.frameElement.clientTop;
    }
    return [x, y];
  };
  const verbs = {
    point: () => {
      if (disabled()) return fail("Element is not enabled: it is disabled");
      dom.scrollTo(element, { block: "center", inline: "center", behavior: "instant" });
      let box = dom.box(element);
      for (const part of dom.boxes(element)) if (part.width && part.height) { box = part; break; }
      if (!box.width || !box.height) return fail("Element is not visible: it has no size");
      const x = box.x + box.width / 2, y = box.y + box.height / 2;
      const hit = hitAt(x, y);
      if (!hit) return fail("Element is outside of the viewport, and scrolling does not reach it");
      if (!belongs(hit))
        return fail(`Element is not clickable: <${dom.tag(hit).toLowerCase().slice(0, 40)}> covers it`);
      return { value: inWindow(x, y) };
    },
    where: () => {
      const box = dom.box(element);
      return { value: [...inWindow(box.x, box.y), box.width, box.height] };
    },
    prepareToType: () => {
      if (disabled() || (is("INPUT", "TEXTAREA") && element.readOnly))
        return fail("Element is not editable: it is read-only");
      if (element.isContentEditable === true || is("TEXTAREA")) return { value: "plain" };
      if (!is("INPUT")) return fail(`Element is not editable: it is a <${tag.toLowerCase().slice(0, 40)}>`);
      const plain = ["text", "search", "email", "url", "tel", "password", "number", ""];
      if (plain.includes(element.type)) return { value: "plain" };
      if (["checkbox", "radio", "button", "submit", "file", "image", "reset"].includes(element.type))
        return fail(`Element is not editable: it is a ${element.type}`);
      return { value: "set" };
    },
    selectAll: () => {
      if (is("INPUT", "TEXTAREA")) element.select();
      else dom.owner(element).getSelection().selectAllChildren(element);
      return { value: true };
    },
    changed: () => {
      dom.dispatch(element, new Event("change", { bubbles: true }));
      return { value: true };
    },
    setValue: () => {
      element.value = options.argument;
      if (element.value === "" && options.argument !== "")
        return fail(`Element is not a place for ${JSON.stringify(options.argument.slice(0, 40))}`);
      typed();
      return { value: true };
    },
    choose: () => {
      if (!is("SELECT")) return fail("Element is not a list to select from");
      if (disabled()) return fail("Element is not enabled: it is disabled");
      const choice = dom.fold(options.argument);
      const all = element.options;
      let option = null, close = null;
      for (let i = 0; i < all.length && i < 20000 && !option; i++) {
        const label = dom.fold(all[i].label.slice(0, 1000));
        if (label === choice || all[i].value === choice) option = all[i];
        else if (!close && label.toLowerCase() === choice.toLowerCase()) close = all[i];
      }
      option ??= close;
      if (!option) {
        const labels = [];
        for (let i = 0; i < all.length && i < 20; i++) labels.push(JSON.stringify(dom.fold(all[i].label.slice(0, 100))));
        return fail(`Element not found: no option ${JSON.stringify(choice.slice(0, 60))}; there are ${labels.join(", ")}`);
      }
      if (option.disabled) return fail("Element is not enabled: the option is disabled");
      element.selectedIndex = option.index;
      typed();
      return { value: true };
    },
  };
  return verbs[options.verb]();
}
