"""Obstacles on disks with `wipe: true`, taken apart from the top."""
