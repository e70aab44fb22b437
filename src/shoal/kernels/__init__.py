"""Compiled loops: arrays in, arrays out, no strings, no frames, no errors, no global random state."""
