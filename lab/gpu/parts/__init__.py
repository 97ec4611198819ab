"""The parts of gpu-check: each module has run(setting, save), which raises Skip without what it needs."""
