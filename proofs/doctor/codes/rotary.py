"""Codes of rotary kernels and of their tables."""

from .code import Code

CODES: dict[str, Code] = {
    "expected": Code(
        "what is expected to fail fails",
        "the list of known failures hides what is mended, and would hide it breaking again",
        "take the code out of expected_failures, or out of the baseline",
    ),
    "call": Code(
        "a call with well-formed arguments returns",
        "nothing else can be measured",
        "make the call below return finite tensors of the shape of its input",
    ),
    "planes": Code(
        "each position acts as turns of separate planes of two features",
        "lengths change, and scores no longer depend on the gap alone",
        "give both features of a plane the same angle, and read both before either is written",
    ),
    "pairing": Code(
        "features form the planes that are claimed",
        "weights trained with the other pairing meet wrong partners: text is garbage after the first token",
        "use the claimed pairing, or permute the rows of the query and key weights",
    ),
    "direction": Code(
        "planes turn the way that is claimed",
        "alone it is consistent; with keys of another implementation, or a cache of it, scores are wrong",
        "swap the sign of the sine: y0 = x0 cos - x1 sin, y1 = x0 sin + x1 cos turns counter-clockwise",
    ),
    "origin": Code(
        "position 0 is not turned, where an encoding is claimed",
        "scores within one call stay right; against a cache that counts from 0 all gaps are off",
        "count positions from 0, and add an offset once",
    ),
    "value": Code(
        "the table holds cos and sin of position times the claimed frequency",
        "a model trained with the claimed encoding sees other distances; it worsens with the length of text",
        "form the frequencies from the claimed rule, base and number of rotated features",
    ),
    "amplitude": Code(
        "the amplitude of the table is the claimed one",
        "logits are scaled by its square",
        "multiply cos and sin by the claimed attention factor, once",
    ),
    "angle-precision": Code(
        "angles are as accurate as float32 makes them",
        "far positions blur or coincide; it worsens with the length of text",
        "keep positions and frequencies in float32, multiply there, and cast cos and sin afterwards",
    ),
    "relative": Code(
        "the score of a query and a key depends on their gap only",
        "attention changes when a text is moved",
        "use the same table for queries and keys, at their own positions",
    ),
    "content": Code(
        "every head and every row is turned by the same linear map of its position",
        "heads or rows beyond the first are wrong",
        "index the table by position alone, and broadcast it over batch and heads",
    ),
    "tail": Code(
        "features that do not turn are copied bit by bit",
        "features that should carry content alone carry positions, or noise",
        "concatenate the untouched features as they are",
    ),
    "batch": Code(
        "a row gives the same alone and in a batch",
        "answers depend on what else is being served",
        "read every row's own positions",
    ),
    "single-token": Code(
        "one token alone gives what it gives in its sequence",
        "decoding differs from prefill",
        "take the position from position_ids, never from the length of the input",
    ),
    "strides": Code(
        "a view with other strides gives what its copy gives",
        "slices of fused projections are turned wrongly",
        "read strides, or make the input contiguous",
    ),
    "purity": Code(
        "a call changes neither its input nor the next call",
        "results depend on the order of calls; gradients may be wrong",
        "write to a new tensor, and key every cache by all that its content depends on",
    ),
    "norm": Code(
        "a plane is as long at every position as at the first",
        "logits shrink or grow with the position",
        "keep cos and sin in float32, and scale them by a constant only",
    ),
    "heads": Code(
        "heads in another order give outputs in that order",
        "heads see different positions",
        "take the position from the axis of time, and broadcast over heads",
    ),
    "shared-keys": Code(
        "keys of one head are turned as those of many",
        "multi-query attention sees unturned keys",
        "return what was turned, whatever the number of heads",
    ),
    "gradient": Code(
        "the gradient is the transposed map at the same position",
        "queries and keys are trained on a wrong signal, or on none",
        "turn the incoming gradient by the negative angle",
    ),
    "dtype": Code(
        "the output has the dtype of the input",
        "memory doubles, or a later kernel refuses the mixture",
        "cast the result back to the dtype of the input",
    ),
    "arithmetic": Code(
        "narrow inputs are turned in float32 and rounded once",
        "scores lose bits that the inputs have",
        "cast to float32, turn, and cast back; or claim the coarser table and arithmetic",
    ),
    "autocast": Code(
        "autocast leaves the angles as they are",
        "far positions coincide in mixed-precision training",
        "form angles by an elementwise product, or with autocast disabled",
    ),
    "module-cast": Code(
        "a cast of the module leaves the angles as they are",
        "a model that was loaded in half precision turns by other angles, which no later cast mends",
        "keep frequencies out of the buffers that a cast reaches, or form them anew in float32",
    ),
    "out-of-range": Code(
        "positions beyond the table are right or refused",
        "long texts are read as if tokens stood elsewhere, without a word",
        "check the range, or extend the table",
    ),
    "instances": Code(
        "instances share nothing",
        "two layers, or two models, change each other",
        "keep tables on the instance, or key a shared cache by everything they depend on",
    ),
    "config-key": Code(
        "every key of a config has its effect",
        "a model runs with the frequencies of another",
        "read the key where the frequencies are formed",
    ),
    "compiled": Code(
        "the compiled kernel gives what the kernel gives",
        "results change when a model is compiled",
        "take what depends on the data out of Python branches and cached views",
    ),
    "recompiles": Code(
        "a kernel is compiled once for inputs of one shape",
        "every step waits for the compiler",
        "keep tables in buffers made once, not in attributes set in forward",
    ),
}
