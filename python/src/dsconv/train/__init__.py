"""The reference trainer: compares torch's DataLoader with dsconv in the same training loop.

`python -m dsconv.train --help` lists its options.
"""
