"""Packs datasets that Python code reads: their samples go to the `dsconv` program over sockets.

`fields` finds out what an item holds and encodes it, `files` gets at encoded files behind a dataset, `samples` is any
dataset as one kind of thing, `serving` sends its samples, `workers` are processes that do, and `packing` runs it all.
"""
