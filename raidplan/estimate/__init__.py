"""Estimates of a layout: its speed and its limits, its survival, its time at risk, and its needs."""
