// What a key press would activate: the focused element, or the button that its form is sent with.
(dom) => () => {
  let element = dom.focused(document);
  while (element && dom.shadow(element)?.activeElement) element = dom.shadow(element).activeElement;
  if (!element || dom.tag(element) === "BODY") return null;
  const describe = (target) => [dom.role(target), dom.name(target).slice(0, 160)];
  if (dom.tag(element) !== "INPUT" || ["button", "submit", "image", "reset"].includes(element.type))
    return { element: describe(element), sends: null };
  const form = element.form;
  const all = form ? Element.prototype.querySelectorAll.call(form, "button,input[type=submit],input[type=image]") : [];
  for (const button of all)
    if (button.type === "submit" || button.type === "image") return { element: describe(element), sends: describe(button) };
  return { element: describe(element), sends: form ? ["form", ""] : null };
}
