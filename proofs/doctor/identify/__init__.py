"""Which linear map, which rule and which rounding: what an implementation is, from what it returns."""
