"""Loaders of other tools on the same images, one tool a file, each doing the work that work.py names.

A loader is a function of the images, a folder for what it packs, and the number of workers; peer.py runs it.
"""
