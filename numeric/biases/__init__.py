"""Attention with a bias of the gap: slopes, slots of q and k, pieces, score functions for FlexAttention."""
