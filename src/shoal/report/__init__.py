"""Two pages about a release: the owner's report and the public datasheet."""
