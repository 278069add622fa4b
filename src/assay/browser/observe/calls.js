// What a call asks of the page, and promises that the page keeps by its own event loop, rather than
// by our clock.
(dom, store, unrest) => {
  // The element of a number or of a selector.
  const named = ({ ref, selector }) => {
    if (ref) return store.elements.get(ref)?.deref() ?? null;
    try { return selector ? dom.inDocument(document, selector)[0] ?? null : null; } catch { return null; }
  };
  // What the page was before a call is what the last look before it saw.
  const turn = (act) => { store.before = store.latest; act(); };
  return {
    from: (first) => { store.next = Math.max(store.next, first); },
    host: (n) => store.hosts[n],
    begin: (aim) => {
      // What is inside a frame or a shadow is not listened to.
      const altered = unrest.altered() || !store.latest || store.deep;
      const element = named(aim);
      turn(unrest.begin);
      return { altered, target: element && unrest.describe(element) };
    },
    rest: () => turn(unrest.rest),
    // What an action set off has been done: its handlers, and the timers that they left.
    breathe: () => new Promise((done) => setTimeout(() => setTimeout(done, 4))),
    // The page has been drawn anew, and so has scrolled; a page that is never drawn is not waited for.
    drawn: () => new Promise((done) => {
      requestAnimationFrame(() => requestAnimationFrame(done));
      setTimeout(done, 100);
    }),
  };
}
