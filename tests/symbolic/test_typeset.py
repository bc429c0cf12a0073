"""One formula, three writings: exponentials never become fractions, signs and names survive."""

import latex2mathml.converter
import pytest
import sympy as sp
import typst
from exptx.symbolic.errors import WrongType
from exptx.symbolic.matexp import MatExp
from exptx.symbolic.tree import At
from exptx.symbolic.typeset import to_grid, to_latex, to_text, to_typst
from sympy.matrices.expressions import KroneckerProduct, MatAdd, MatMul, MatPow

g, w, t, s, w0, b = sp.symbols("gamma omega t s w0 b", positive=True)
n, k, d, i = sp.symbols("n k d i")
f, phi, softmax = sp.Function("f"), sp.Function("phi_1"), sp.Function("softmax")
q, key = sp.IndexedBase("q"), sp.IndexedBase("k")
A, B = sp.MatrixSymbol("A", 2, 2), sp.MatrixSymbol("B", 2, 2)
x, y = sp.symbols("x y", commutative=False)
R = sp.ImmutableMatrix([[sp.cos(w * t), -sp.sin(w * t)], [sp.sin(w * t), sp.cos(w * t)]])
LONG = sp.Matrix(12, 12, lambda i, j: 100 * i + j)
ROW = sp.Matrix([[sp.Derivative(entry, t) for entry in R.row(0)]])
Q = sp.Rational

# formula, Typst, text
TABLE = [
    (sp.exp(-g * t), "e^(-gamma t)", "e^(-γ·t)"),
    (sp.exp(-g * t) / 2, "frac(1, 2) e^(-gamma t)", "1/2·e^(-γ·t)"),
    (
        t**2 * sp.exp(-g * t) * sp.cos(w * t) / 2,
        "frac(t^2, 2) e^(-gamma t) cos(omega t)",
        "t²/2·e^(-γ·t)·cos(ω·t)",
    ),
    (-sp.exp(-g * t) / (w * t), "-frac(1, omega t) e^(-gamma t)", "-1/(ω·t)·e^(-γ·t)"),
    (sp.exp(-(t**2) / 2), "e^(-t^2\\/2)", "e^(-t²/2)"),
    (sp.exp(t * (s - 1)), "e^(t (s - 1))", "e^(t·(s - 1))"),
    (sp.exp(sp.exp(t)), "e^(e^t)", "e^(e^t)"),
    (sp.exp(1), "e", "e"),
    (t - s, "t - s", "t - s"),
    (1 - t, "1 - t", "1 - t"),
    (-t - s, "-s - t", "-s - t"),
    (-(t - s) * w, "omega (s - t)", "ω·(s - t)"),
    (t * (t - s), "t (t - s)", "t·(t - s)"),
    (sp.Mul(2, 3, evaluate=False), "2 dot.op 3", "2·3"),
    (sp.Pow(-2, 3, evaluate=False), "(-2)^3", "(-2)³"),
    (Q(1, 2), "1\\/2", "1/2"),
    (Q(-1, 2), "-1\\/2", "-1/2"),
    (Q(-3, 4) * t, "-frac(3 t, 4)", "-3·t/4"),
    (b ** (-2 * k / d), "b^(-2 k\\/d)", "b^(-2·k/d)"),
    (sp.sqrt(d), "sqrt(d)", "√d"),
    (1 / sp.sqrt(d), "frac(1, sqrt(d))", "1/√d"),
    (sp.sqrt(t + 1), "sqrt(t + 1)", "√(t + 1)"),
    (t ** Q(1, 3), "root(3, t)", "∛t"),
    (1 / t**2, "frac(1, t^2)", "1/t²"),
    ((t + 1) / (s + 1), "frac(t + 1, s + 1)", "(t + 1)/(s + 1)"),
    (sp.log(2) / g, "frac(ln(2), gamma)", "ln(2)/γ"),
    (2 * sp.pi / w, "frac(2 pi, omega)", "2·π/ω"),
    (sp.I * w, "i omega", "i·ω"),
    (sp.oo, "infinity", "∞"),
    (-sp.oo, "-infinity", "-∞"),
    (w0, "w_0", "w₀"),
    (sp.Symbol("theta_k"), "theta_k", "θ_k"),
    (sp.Symbol("x_10"), "x_10", "x₁₀"),
    (sp.Symbol("x'"), "x'", "x'"),
    (sp.Symbol("lamda"), "lambda", "λ"),
    (sp.Symbol("γ"), "gamma", "γ"),
    (sp.Symbol("inv_freq"), '"inv"_("freq")', "inv_freq"),
    (sp.Symbol('a"b\\'), '"a\\"b\\\\"', 'a"b\\'),
    (sp.Symbol("k0") * sp.Symbol("q0"), "q_0 k_0", "q₀·k₀"),
    (sp.cos(t) ** 2 + sp.sin(t) ** 2, "sin^2 (t) + cos^2 (t)", "sin²(t) + cos²(t)"),
    (sp.tanh(t), "tanh(t)", "tanh(t)"),
    (f(t - s), "f (t - s)", "f(t - s)"),
    (phi(t) * f(s), "f (s) phi_1 (t)", "f(s)·φ₁(t)"),
    (softmax(t), '"softmax"(t)', "softmax(t)"),
    (sp.Abs(t), "t", "t"),
    (sp.Abs(n), "abs(n)", "|n|"),
    (sp.factorial(k), "k!", "k!"),
    (sp.Derivative(f(t), t), "frac(dif, dif t) f (t)", "d/dt f(t)"),
    (sp.Derivative(t - s, t, 2), "frac(dif^2, dif t^2) (t - s)", "d²/dt² (t - s)"),
    (sp.Derivative(f(t), t) * f(s), "f (s) (frac(dif, dif t) f (t))", "f(s)·(d/dt f(t))"),
    (-sp.Derivative(f(t), t), "-frac(dif, dif t) f (t)", "-d/dt f(t)"),
    (sp.Subs(f(t), t, 0), "lr(f (t) |)_(t = 0)", "f(t)|t=0"),
    (
        sp.Sum(q[2 * i] * key[2 * i] * sp.cos(w * t), (i, 0, n - 1)),
        "sum_(i = 0)^(n - 1) q_(2 i) k_(2 i) cos(omega t)",
        "∑[i = 0..n - 1] q[2·i]·k[2·i]·cos(ω·t)",
    ),
    (sp.Product(f(i), (i, 1, n)), "product_(i = 1)^(n) f (i)", "∏[i = 1..n] f(i)"),
    (sp.Eq(f(t), 0), "f (t) = 0", "f(t) = 0"),
    (sp.Ne(n, 0), "n != 0", "n ≠ 0"),
    (sp.Lt(n, k), "n < k", "n < k"),
    (sp.Le(n, k), "n <= k", "n ≤ k"),
    (sp.Gt(n, 0), "n > 0", "n > 0"),
    (sp.Ge(n, 0), "n >= 0", "n ≥ 0"),
    (sp.And(n > 0, k > 0), "k > 0 and n > 0", "k > 0 ∧ n > 0"),
    (
        sp.Piecewise((n, n > 0), (0, True)),
        'cases(n quad & n > 0, 0 quad & "otherwise")',
        "{n if n > 0; 0 if otherwise}",
    ),
    (sp.Tuple(t, s), "(t, s)", "(t, s)"),
    (x * y - y * x, "x y - y x", "x·y - y·x"),
    (
        R,
        'mat(delim: "[", cos(omega t), -sin(omega t); sin(omega t), cos(omega t))',
        "[[cos(ω·t), -sin(ω·t)], [sin(ω·t), cos(ω·t)]]",
    ),
    (ROW, 'frac(dif, dif t) mat(delim: "[", cos(omega t), -sin(omega t))', "d/dt [[cos(ω·t), -sin(ω·t)]]"),
    (
        At(sp.Matrix([[1, sp.exp(t)], [0, sp.cos(t)]]), t, 0),
        'lr(mat(delim: "[", 1, e^t; 0, cos(t)) |)_(t = 0)',
        "[[1, e^t], [0, cos(t)]]|t=0",
    ),
    (
        sp.Matrix([[sp.Derivative(f(t), t), 5]]),
        'mat(delim: "[", frac(dif, dif t) f (t), 5)',
        "[[d/dt f(t), 5]]",
    ),
    (A.T * B, "A^top B", "Aᵀ·B"),
    (MatMul(-1, A, B), "-A B", "-A·B"),
    (MatMul(g, MatAdd(A, B)), "gamma (A + B)", "γ·(A + B)"),
    (MatAdd(A, MatMul(-1, B)), "A - B", "A - B"),
    (MatPow(MatAdd(A, B), 2), "(A + B)^2", "(A + B)²"),
    (
        sp.Determinant(sp.ImmutableMatrix([[1, t]]).T * sp.Matrix([[1, t]])),
        'det mat(delim: "[", 1, t; t, t^2)',
        "det [[1, t], [t, t²]]",
    ),
    (A.inv(), "A^(-1)", "A⁻¹"),
    (MatExp(MatMul(t, A)), "exp(t A)", "exp(t·A)"),
    (KroneckerProduct(A, B), "A times.o B", "A ⊗ B"),
    (sp.Identity(3), "I_3", "I₃"),
    (sp.BlockMatrix([[A, B], [B, A]]), 'mat(delim: "[", A, B; B, A)', "[[A, B], [B, A]]"),
    (7, "7", "7"),
]
FORMULAS = [row[0] for row in TABLE]


@pytest.mark.parametrize(("formula", "typst_source", "text"), TABLE)
def test_a_formula_is_written_as_the_table_says(formula, typst_source, text):
    assert to_typst(formula) == typst_source
    assert to_text(formula) == text


def test_every_formula_of_the_table_compiles_in_typst():
    lines = "\n".join(f"$ {to_typst(formula)} $" for formula in [*FORMULAS, LONG])
    page = f"#set page(width: auto, height: auto)\n{lines}"
    drawing = typst.compile(page.encode(), format="svg")
    assert drawing.startswith(b"<svg")
    assert drawing.count(b"<use") > 4 * len(FORMULAS)  # glyphs were drawn


@pytest.mark.parametrize("formula", FORMULAS)
def test_every_formula_is_latex_that_another_reader_reads(formula):
    latex = to_latex(formula)
    assert latex.count("{") == latex.count("}")
    assert "<math" in latex2mathml.converter.convert(latex)


@pytest.mark.parametrize(
    ("formula", "latex"),
    [
        (sp.exp(-g * t), r"e^{-\gamma t}"),
        (sp.exp(-g * t) * sp.cos(w * t), r"e^{-\gamma t} \cos\left(\omega t\right)"),
        (1 / sp.sqrt(d), r"\frac{1}{\sqrt{d}}"),
        (sp.Derivative(f(t), t), r"\frac{d}{dt} f\left(t\right)"),
        (A.T, r"A^{\top}"),
        (sp.Matrix([[1, t]]), r"\begin{bmatrix}1 & t\end{bmatrix}"),
        (sp.Ge(n, 0), r"n \ge 0"),
        (sp.Symbol("inv_freq"), r"\mathrm{inv}_{\mathrm{freq}}"),
    ],
)
def test_latex_is_written_as_the_table_says(formula, latex):
    assert to_latex(formula) == latex


@pytest.mark.parametrize("rate", [g, 2, Q(1, 10), g * w, sp.sqrt(2)])
@pytest.mark.parametrize("amount", [1, t, -t / 3, 1 / t])
def test_an_exponential_never_goes_below_a_bar(rate, amount):
    formula = amount * sp.exp(-rate * t)
    assert "e^(-" in to_typst(formula)
    assert ", e^" not in to_typst(formula)
    assert "e^{-" in to_latex(formula)
    assert "/e^" not in to_text(formula)


def test_long_matrices_are_cut_with_dots_and_short_ones_are_not():
    assert to_typst(LONG).count("dots.v") == to_typst(LONG).count("dots.c") == 6
    assert "1111" in to_text(LONG)
    assert "505" not in to_text(LONG)
    assert "dots" not in to_typst(sp.eye(8))


def test_a_grid_aligns_its_columns():
    lines = to_grid(sp.Matrix([[1, -10], [t, sp.exp(-g * t)]])).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert [line[0] for line in lines] == ["⎡", "⎣"]
    assert to_grid(sp.Matrix([[1]])) == "[1]"


@pytest.mark.parametrize("writer", [to_typst, to_latex, to_text])
@pytest.mark.parametrize("formula", ["exp(t)", None, 0.5, [[1]]])
def test_only_formulas_are_written(writer, formula):
    with pytest.raises(WrongType, match=r"^formula is a"):
        writer(formula)


@pytest.mark.parametrize("digits", [1000, 1001, 5001])
@pytest.mark.parametrize(
    "build", [lambda n: n, lambda n: -n, lambda n: x / n, lambda n: t**n, lambda n: n**t]
)
def test_a_number_too_long_to_read_shows_its_ends_and_its_length(digits, build):
    """Python itself refuses to write more than 4300 digits."""
    formula = build(sp.Integer(10) ** (digits - 1) + 1234567)
    in_full = digits <= 1000
    for write in (to_text, to_latex, to_typst):
        written = write(formula)
        assert (f"{digits} digits" in written) is not in_full
        assert ("100000" in written and "234567" in written) or in_full
        assert (len(written) < 100) is not in_full
    latex2mathml.converter.convert(to_latex(formula))
    typst.compile(f"${to_typst(formula)}$".encode(), format="svg")
