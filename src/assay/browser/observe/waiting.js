// Promises that the page keeps by its own event loop, rather than by our clock.
() => ({
  // What an action set off has been done: its handlers, and the timers that they left.
  breathe: () => new Promise((done) => setTimeout(() => setTimeout(done, 4))),
  // The page has been drawn anew, and so has scrolled; a page that is never drawn is not waited for.
  drawn: () => new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(done));
    setTimeout(done, 100);
  }),
})
