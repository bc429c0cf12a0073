"""`exptx inspect`: what a model's config.json says about positions, computed and written down."""
