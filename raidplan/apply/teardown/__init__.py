"""What is in the way where a layout says `wipe: true`: taken apart from the top."""
