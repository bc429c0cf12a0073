"""The parts of `typeset`: what a formula looks like in Typst, in LaTeX and in one line of text."""
