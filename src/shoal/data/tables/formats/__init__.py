"""File formats of tables, one file each, which registers itself."""
