"""What can be examined: each kind with its one signature, and the module that examines it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """signature: of the callable. module: in this folder, with examine(subject, level, say) -> Diagnosis."""

    signature: str
    module: str


KINDS = {
    "rotary": Kind("(x, position_ids) -> y, or (q, k, position_ids) -> (q, k)", "rotary.kernel"),
    "tables": Kind("(position_ids) -> (cos, sin), angles, or complex numbers", "rotary.tables"),
    "inv_freq": Kind(
        "(config, seq_len) -> inv_freq or (inv_freq, attention_factor); layer_type may follow",
        "frequencies.examine",
    ),
    "slopes": Kind("(num_heads) -> slopes (num_heads,)", "biases.slopes"),
    "bias": Kind("(query_length, key_length) -> bias (heads, Tq, Tk)", "biases.bias"),
    "multiaxis": Kind("(x, position_ids) -> y with position_ids (axes, batch, time)", "axes.examine"),
    "scores": Kind("(q, k, query_positions, key_positions) -> logits", "biases.scores"),
    "attention": Kind("(q, k, v) -> out", "biases.attention"),
    "decode": Kind("(q, k, v, cache) -> (out, cache); cache is None at first", "caches.decode"),
    "module": Kind("() -> a model that is called as those of transformers are", "caches.module"),
    "recurrence": Kind("(q, k, v, log_decay, form) -> out", "recurrences.examine"),
    "matrix_exp": Kind("(X) -> exp(X)", "matrices.examine"),
}
GUESSED = {1: "tables", 2: "rotary", 3: "rotary"}  # by the number of arguments, where no kind is claimed
