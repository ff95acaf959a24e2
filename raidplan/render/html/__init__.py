"""One page for a browser: findings beside the layout, the wiring, survival, estimates and the plan.

Each module makes one section's values; `page.html` alone knows markup, and escapes whatever is put into it.
"""
