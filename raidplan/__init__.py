"""raidplan: a layout file in, Linux software RAID out."""

__version__ = "0.1.0"
