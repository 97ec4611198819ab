"""Looks into a DataLoader: what its workers spend their time on, and how long the loop waits.

`look.look` puts timers around the parts of a dataset (reading, decoding, each transform, collating) in the
workers, and takes them away again. `passes.run` measures an epoch. `rows.Row` makes of both a row of a report, with the
costs from which `dsconv bench` names the cause. Nothing here judges: the command does.
"""
