"""Several releases of the same people: groups that are carried over, and m-invariance."""
