"""Compiled loops: arrays in, arrays out, no strings, no frames, no errors, no global random state."""

is_alone = False
"""Whether nobody else imports anything in this process, as in a command: then less is loaded with the first kernel."""
