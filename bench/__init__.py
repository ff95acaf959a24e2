"""Speed and memory as ratios: against bare Python, and against doubling the work."""
