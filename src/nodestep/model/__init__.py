"""What things are: frozen values, without I/O, clock or asyncio."""
