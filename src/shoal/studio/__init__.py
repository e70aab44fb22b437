"""The studio: the same release as on the command line, on pages that one's own machine serves to one's own browser.

The policy file is the state. Every page is drawn from the files of a session, every change is a new policy file, and
every figure comes from the Python functions that the command line calls too.
"""
