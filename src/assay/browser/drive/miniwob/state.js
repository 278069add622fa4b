// What the page says of its episode; null when this is not the page that the episode began on.
() => {
  if (typeof core === "undefined" || !core.startedByAssay) return null;
  const utterance = core.getUtterance();
  return {
    goal: String(utterance.utterance ?? utterance),
    done: WOB_DONE_GLOBAL === true,
    raw: Number(WOB_RAW_REWARD_GLOBAL),
    reason: WOB_REWARD_REASON === null ? "" : String(WOB_REWARD_REASON ?? ""),
  };
};
