"""Exact sizes: what mdadm, mke2fs, mkfs.xfs, LVM and a GPT make of a number of bytes.

Every module is arithmetic only: no file, no process and no clock is touched. Lengths are bytes unless the
name says otherwise. What cannot be made raises ``ValueError`` with the numbers in its message.
"""
