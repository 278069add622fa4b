// Begin the one episode of this page: its problem drawn from the seed, its own clock set to `limitMs`.
// The goal stands before the page in the observation, and the score board is not part of it.
async ({ seed, limitMs }) => {
  if (document.readyState !== "complete")
    await new Promise((loaded) => addEventListener("load", loaded, { once: true }));
  // The page prepares itself in its own load handler, which may be behind this one.
  await new Promise((done) => setTimeout(done));
  const style = document.createElement("style");
  style.textContent =
    "#reward-display, #click-canvas, #sync-task-cover { display: none !important }" +
    "#query, #query * { visibility: hidden !important }";
  document.head.append(style);
  Math.seedrandom(seed);
  core.EPISODE_MAX_TIME = limitMs;
  core.startEpisodeReal();
  core.startedByAssay = true;
};
