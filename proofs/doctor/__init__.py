"""Somebody else's implementation, identified from calls alone and held to laws; `suite` is the door."""
