"""Deliberate faults, each put into the program by itself: the simulator or a named test must notice every one."""
