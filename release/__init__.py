"""What `make dist` builds: wheel, sdist, one file for any Python, a Debian package. The same commit gives the same bytes."""
