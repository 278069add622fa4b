"""MiniWoB++: small pages that set a goal and give the reward themselves."""
