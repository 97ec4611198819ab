"""Loaders of other tools, one tool per file. Each does the work that work.py describes, on the same images.

A loader is a function of the images, a folder for what it packs, and the number of workers; peer.py runs it.
"""
