"""The check of each publication, a file each; one that has none is checked as one that makes records alike."""
