"""Codes of slopes, biases, scores and attention without a cache."""

from .code import Code

CODES: dict[str, Code] = {
    "slope-value": Code(
        "the slopes are those of the claimed rule, for every number of heads",
        "heads of trained weights see another penalty for distance; text degrades with length",
        "with c the largest power of two <= n: 2^(-8(h+1)/c) for c heads, then 2^(-4(2k+1)/c)",
    ),
    "slope-sign": Code(
        "slopes are positive; the minus is added with the bias",
        "attention grows with distance",
        "return m > 0 and subtract m times the gap",
    ),
    "slope-precision": Code(
        "slopes are kept as exactly as is claimed",
        "the bias is off in proportion to the gap: far keys get other weights, and other code disagrees",
        "keep slopes in float32 whatever the module is cast to, or claim the shorter format as `table`",
    ),
    "slope-again": Code(
        "the same call gives the same slopes, whatever was called before",
        "models in one process change each other",
        "let a cache have every argument in its key",
    ),
    "bias-linear": Code(
        "in each row the bias falls by the claimed slope a position, up to a constant",
        "heads see another penalty for distance than they were trained with",
        "add -m(t - s), or m s, with the claimed slope of each head",
    ),
    "bias-sign": Code(
        "the bias falls with the distance of the key",
        "far keys are preferred; text is garbage beyond a few tokens",
        "add -m(t - s): the minus belongs to the bias",
    ),
    "bias-symmetry": Code(
        "without a causal mask the bias is that of the distance: b(i, j) = b(j, i)",
        "later keys are preferred without bound",
        "add -m|t - s| where later keys are seen",
    ),
    "bias-offset": Code(
        "a row of a short call is the same row of a whole one: query i stands at Tk - Tq + i",
        "decoding and chunks see other distances than training did",
        "form positions of queries from the number of keys",
    ),
    "bias-relative": Code(
        "the bias depends on the gap alone, up to a constant a row",
        "the same text gives other weights where it stands elsewhere",
        "form the bias from t - s",
    ),
    "bias-mask": Code(
        "keys that the claims let a query see are not hidden",
        "context is lost",
        "hide later keys only, and those only where attention is causal",
    ),
    "bias-again": Code(
        "the same call gives the same bias, whatever was called before, by any instance",
        "models in one process change each other",
        "let a cache have lengths, heads, offset and dtype in its key, and belong to one instance",
    ),
    "score-scale": Code(
        "products of queries and keys are scaled as claimed, all factors together",
        "attention is too sharp or too flat at every distance",
        "apply each factor once: in the tables for both sides, or in the scale of the softmax",
    ),
    "score-bias": Code(
        "at q = 0 the logits are the claimed bias, up to a constant a row",
        "the penalty for distance is another one than in training",
        "add the bias after the scale, or inside it, as the model was trained",
    ),
    "score-heads": Code(
        "query head h reads key head h // (heads / kv_heads)",
        "heads are paired with keys of another group: text is garbage",
        "repeat each key head in place, do not tile the list of them",
    ),
    "score-turn": Code(
        "queries and keys turn as claimed",
        "scores do not depend on the gap as in training",
        "turn both, by the claimed frequencies and pairing, each once",
    ),
    "score-relative": Code(
        "scores depend on the gap alone",
        "the same text gives other scores where it stands elsewhere",
        "turn queries and keys by the same rule, at their own positions",
    ),
    "score-positions": Code(
        "a pair is scored at its own positions, whichever others are in the call",
        "chunks and shards of a sequence see local distances",
        "use the positions that are given, not the index in the call",
    ),
    "score-exact": Code(
        "logits are the scale times the exact score of the claimed encoding, up to a constant a row",
        "a model with trained weights attends elsewhere",
        "compute the score of the claimed encoding, with its scale",
    ),
    "score-linear": Code(
        "logits without their bias are a product of query and key",
        "weights trained for it give other scores",
        "compute σ q·k + b in at least float32",
    ),
    "attention-heads": Code(
        "query head h reads value head h // (heads / kv_heads), and weights add up to 1",
        "heads are paired with values of another group: text is garbage",
        "repeat each key and value head in place, do not tile the list of them",
    ),
    "attention-causal": Code(
        "later keys are hidden where attention is causal, and seen where it is not",
        "a model that sees what it should predict trains to nothing; one that does not loses context",
        "hide key s from query t where s > t, and only there",
    ),
    "attention-weights": Code(
        "weights are the softmax of the claimed logits",
        "a model with trained weights attends elsewhere",
        "softmax(σ q·k + b) with the claimed scale, bias and turns",
    ),
    "attention-batch": Code(
        "a row of a batch is what it is alone",
        "answers depend on what else is served",
        "let nothing but time and features meet",
    ),
    "attention-single": Code(
        "one token alone returns its value",
        "the first token is wrong, and all that attend to it",
        "normalise weights over the keys that are seen",
    ),
    "attention-gradient": Code(
        "gradients are finite, and that of values is the transposed weights",
        "training follows another function than inference computes",
        "derive the backward pass from the same weights",
    ),
    "attention-large": Code(
        "large logits give finite output",
        "training ends in NaN",
        "subtract the largest logit of a row before exp",
    ),
}
