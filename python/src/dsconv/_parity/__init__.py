"""Comparison of dsconv's pixels with Pillow's: `dsconv verify --parity` runs it.

The command carries these files in itself, decodes and resizes the images, and sends them here (see `serve`). Pillow,
and torchvision where it is installed, make the same images, and a certificate says what differs. Only Pillow is
needed: nothing here imports the rest of dsconv.
"""
