"""The reference trainer: one training loop, fed by torch's DataLoader and by dsconv in turn.

`python -m dsconv.train --help` says how to run it.
"""
