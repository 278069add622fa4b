"""MiniWoB++: small pages that set their own goal and pay for reaching it."""
