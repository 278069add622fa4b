"""Any registered BrowserGym task, run by an interpreter that has BrowserGym."""
