"""What torch does to the laws, one small measurement a law; `exptx.proofs.measure` runs them."""
