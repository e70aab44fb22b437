"""Files beside published data that machines read: Croissant, DCAT, SPDX and a citation.

All are made from the manifest alone, which is public, so that none tells more than the datasheet and the manifest do,
and anybody, the checker too, can make them again and compare.
"""
