"""File formats of strings, one file each, which registers itself."""
