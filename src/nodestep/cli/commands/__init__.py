"""The commands, a module each: its parameters and help, and what it does."""
