"""Commands for data owners."""
