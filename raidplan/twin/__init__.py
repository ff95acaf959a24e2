"""Stand-ins for a server: loop devices in place of its disks, or a whole virtual server with its topology."""
