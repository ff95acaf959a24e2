"""Safety copies, and the way back to what they hold."""
