"""fstab, mdadm.conf and their like: blocks and files of our own beside the lines of others."""
