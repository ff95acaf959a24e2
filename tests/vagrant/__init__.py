"""The Vagrant machine."""
