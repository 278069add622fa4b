"""BrowserGym tasks, which run under an interpreter that has BrowserGym installed."""
