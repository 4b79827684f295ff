"""The demo: a graph to run, and the play of processes that runs it."""
