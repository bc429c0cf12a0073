"""Model configs, as config.json holds them, read into what their positions do; `read` is the door."""
