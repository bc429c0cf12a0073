"""Codes of decoding with a cache, and of whole models."""

from .code import Code

CODES: dict[str, Code] = {
    "attention-value": Code(
        "outputs are those of softmax attention under the claimed encoding",
        "a model trained with the claimed encoding reads other distances",
        "compare positions, scale and sign with the claimed formula",
    ),
    "decode": Code(
        "decoding, in steps or chunks, gives what one prefill of the same text gives",
        "text degenerates after the prompt",
        "place new tokens after those of the cache, and turn each key once",
    ),
    "decode-state": Code(
        "a cache holds all that a continuation depends on",
        "answers depend on what was served earlier",
        "keep positions and tables in the cache, not beside it",
    ),
    "padding": Code(
        "pads at the left, with their mask, change nothing",
        "answers depend on how a batch was filled",
        "count positions from the first token that is no pad, and mask the pads",
    ),
    "positions": Code(
        "position_ids that say what is implied change nothing",
        "packed and continued texts are read elsewhere",
        "use position_ids wherever a position is used, in every layer",
    ),
}
