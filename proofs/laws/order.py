"""Attention cannot see order: relabelled tokens relabel outputs, until positions or a mask step in."""

import sympy as sp

from ...symbolic.decide import Status
from ...symbolic.reindex import Reindex
from ..law import Chapter, Hypothesis, Law
from ..step import Exact, Identity
from .common import VASWANI, product, times

CHAPTER = Chapter(
    "order",
    "Attention cannot see order",
    "“The dog bit the man” and “the man bit the dog” hold the same words. A score is the dot product of a "
    "query and a key; the places of the two tokens are in its labels and nowhere in its arithmetic.",
)
i, j = sp.symbols("i j", real=True)
p, weight, value, row = (sp.Function(name) for name in ("p", "w", "v", "r"))


@CHAPTER.law("permutation-equivariance")
def permutation_equivariance() -> Law:
    # attention of the shuffled sentence at place i: weights w(p(i), p(j)), values v(p(j))
    output = Reindex(
        index=j, bijection=p, body=weight(p(i), j) * value(j), rhs=weight(p(i), p(j)) * value(p(j))
    )
    normaliser = Reindex(index=j, bijection=p, body=row(p(i), j), rhs=row(p(i), p(j)))
    goal = Exact(name="outputs", goal=True, of=output)
    rows = Exact(
        name="softmax's denominators", goal=True, of=normaliser, note="r(i, j) stands for exp(score(i, j))"
    )
    return Law(
        id="permutation-equivariance",
        title="Shuffle the words: every output moves along",
        statement=(
            "For any number of tokens and every permutation `p` of them: if the scores of the shuffled "
            "sentence are `q_{p(i)}·k_{p(j)}`, softmax divides its row `i` by the number that divided row "
            "`p(i)` before, and the output at place `i` is the old output at place `p(i)`."
        ),
        hypotheses=(Hypothesis("rows", "softmax divides each entry of a row by the sum of that row"),),
        steps=(rows, goal),
        perturbations=(
            goal.but("the values stay where they were", rhs=weight(p(i), p(j)) * value(j)),
            goal.but("the weights are not relabelled", rhs=weight(p(i), j) * value(p(j))),
            rows.but("the row depends on the place as well", rhs=row(p(i), p(j)) * j),
        ),
        sources=(VASWANI,),
        comment=(
            "A sum over all tokens does not mind in which order it is taken. So something must be added "
            "that says where each word sits. The sums run over all tokens: a causal mask is "
            "[another matter](#causal-mask-sees-order)."
        ),
    )


WORDS = {
    "dog": (sp.Integer(1), sp.Integer(0)),
    "bit": (sp.Integer(0), sp.Integer(1)),
    "man": (sp.Integer(1), sp.Integer(2)),
}


def attend(sentence: tuple[str, ...], at: int, causal: bool = False, feature: int = 0) -> sp.Expr:
    """A feature of softmax attention with queries = keys = values = the words' vectors, at place `at`."""
    seen = sentence[: at + 1] if causal else sentence
    query = WORDS[sentence[at]]
    weights = [sp.exp(sum(a * b for a, b in zip(query, WORDS[word], strict=True))) for word in seen]
    values = [WORDS[word][feature] for word in seen]
    seen_of_it = [times(a, b) if b != 1 else a for a, b in zip(weights, values, strict=True) if b]
    top = sp.Add(*seen_of_it, evaluate=False) if seen_of_it else sp.S.Zero
    return top / sp.Add(*weights, evaluate=False)


def outputs(sentence: tuple[str, ...], causal: bool = False) -> sp.Matrix:
    """The outputs of “dog”, “bit” and “man” in this sentence, a row a word."""
    places = [sentence.index(word) for word in WORDS]
    return sp.Matrix([[attend(sentence, at, causal, feature) for feature in (0, 1)] for at in places])


def score_table(sentence: tuple[str, ...]) -> sp.ImmutableMatrix:
    """q_i·k_j of the words at places i and j."""
    vectors = sp.Matrix([WORDS[word] for word in sentence])
    return (vectors * vectors.T).as_immutable()


ONE, OTHER = ("dog", "bit", "man"), ("man", "bit", "dog")


@CHAPTER.law("dog-and-man")
def dog_and_man() -> Law:
    swap = sp.ImmutableMatrix([[0, 0, 1], [0, 1, 0], [1, 0, 0]])
    scores = Identity(
        name="the scores are shuffled, rows and columns alike",
        goal=True,
        lhs=product(swap, score_table(ONE), swap),
        rhs=score_table(OTHER),
        note="the permutation matrix exchanges the first and the last place",
    )
    goal = Identity(
        name="“dog”, “bit” and “man” in both sentences",
        goal=True,
        lhs=outputs(ONE),
        rhs=outputs(OTHER),
        note="a row a word; left in “dog bit man”, right in “man bit dog”",
    )
    shifted = sp.Matrix([[attend(OTHER, place, False, feature) for feature in (0, 1)] for place in range(3)])
    return Law(
        id="dog-and-man",
        title="The dog, the man, and nobody the wiser",
        statement=(
            "With `dog = (1,0)`, `bit = (0,1)`, `man = (1,2)` as queries, keys and values, and scores "
            "`q·k`: the scores of “man bit dog” are those of “dog bit man” with rows and columns "
            "exchanged, and each word has exactly the same attention output in both."
        ),
        steps=(scores, goal),
        rests_on=("permutation-equivariance",),
        perturbations=(
            scores.but("only the rows are exchanged", lhs=product(swap, score_table(ONE))),
            goal.but("outputs compared place by place instead of word by word", rhs=shifted),
            goal.but("with a causal mask", lhs=outputs(ONE, causal=True), rhs=outputs(OTHER, causal=True)),
        ),
        comment="An exact exhibit with real softmax weights, powers of e; no rounding is involved.",
    )


@CHAPTER.law("causal-mask-sees-order")
def causal_mask_sees_order() -> Law:
    goal = Identity(
        name="“bit” sees the same under the mask",
        goal=True,
        lhs=attend(ONE, 1, causal=True),
        rhs=attend(OTHER, 1, causal=True),
    )
    return Law(
        id="causal-mask-sees-order",
        title="“A causal mask changes nothing about that”",
        statement=(
            "Under a causal mask the first feature of the output of “bit” is the same in “dog bit man” and "
            "in “man bit dog”: `1/(1 + e) = e²/(e² + e)`."
        ),
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(goal.but("without the mask", lhs=attend(ONE, 1), rhs=attend(OTHER, 1)),),
        rests_on=("dog-and-man",),
        comment=(
            "The mask lets “bit” see only what came before it. That is how a causal model without any "
            "positional encoding (NoPE) still learns about order."
        ),
    )
