"""What the viewer and the reward server share: guards of requests, and where they listen."""
