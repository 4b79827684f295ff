"""Who makes it happen: asyncio lives here and nowhere below."""
