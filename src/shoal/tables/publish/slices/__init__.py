"""Bucketization, slicing and screening: one machine, `slice_table`."""
