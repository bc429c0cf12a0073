"""Owns the small markup of all running text: mathematics in backticks, links, emphasis; asked by the pages.

`math` becomes spans of italics, subscripts and superscripts (no font is needed), `words_like_code` become
code, [text](#anchor) a link. Words that can only be mathematics need no backticks; a hyphen before a digit
is a minus. Everything else is escaped, so no text can inject markup.
"""

import re
from html import escape

UPRIGHT = frozenset(
    [
        "exp",
        "log",
        "ln",
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "tanh",
        "det",
        "diag",
        "rank",
        "trace",
        "span",
        "dim",
        "max",
        "min",
        "sup",
        "lim",
        "mod",
        "softmax",
        "softplus",
        "sign",
        "GL",
        "SO",
        "RoPE",
        "NoPE",
        "ALiBi",
        "arg",
        "and",
        "or",
        "for",
        "all",
        "if",
        "iff",
    ]
)
_SIGNS = {"-": "−", "*": "·", "'": "′"}
_DIGRAPHS = {"->": "→", "<=": "≤", ">=": "≥", "!=": "≠", "...": "…"}
_TOKEN = re.compile(
    r"(?P<digraph>->|<=|>=|!=|\.\.\.)|(?P<number>\d+(?:\.\d+)?)|(?P<word>[A-Za-z]+)|(?P<greek>[α-ωϕϑ])"
    r"|(?P<script>[_^])(?:\{(?P<brace>[^{}]*)\}|\((?P<paren>(?:[^()]|\([^()]*\))*)\)|(?P<bare>[+−-]?(?:[A-Za-z]+|\d+|[α-ω⊤*])))"
    r"|(?P<raised>[⁰¹²³⁴-⁹⁺⁻ⁿᵀⁱ]+)|(?P<lowered>[₀-₉]+)|(?P<other>.)",
    re.DOTALL,
)
_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿᵀⁱ₀₁₂₃₄₅₆₇₈₉", "0123456789+−n⊤i0123456789")
_CODE = re.compile(r"[a-z]{2,}_[A-Za-z]|(?=[A-Za-z]*[a-z]{3})[A-Za-z]{4,}|\.(?:py|json|html)\b|--")
_WORDY_INDEX = re.compile(r"(?:(?<=\b[A-Za-zα-ω])|(?<=[A-Z]))_[a-z]+")
_BEFORE_FUNCTION = re.compile(r"·(?=e\^|(?:cos|sin|tan|exp|cosh|sinh)\b)")
_PLAIN_PRODUCT = re.compile(r"(?<=[\dα-ω])·(?=[A-Za-zα-ω])|(?<=[α-ω])·(?=\()")
_WORD = re.compile(r"([(“]*)(.*?)([.,;:?)”]*)$", re.DOTALL)
_MATHEMATICAL = re.compile(
    r"[\w)}]\^[\w{(+−-]|_\{|\b[A-Za-z]_\w\b|[A-Za-zα-ω)][²³⁻ⁿᵀ]"  # powers and indices
    r"|[A-Za-z]['′]?\(.*[=+·^−-]|^[A-Z]['′]$|\bexp\(|^[“(]?\|[^|]+\|"  # functions, A′, exp(tX), |t - s|
)
_BESIDE = re.compile(r"-?(?:[A-Zb-zα-ω]['′]?|[A-Z]{2,3}|\d+)|[=<>≤≥≠+−·-]")
_BEFORE = re.compile(r"[B-HJ-Zb-zα-ω]['′]?|[=<>≤≥≠+−·-]|\d+")
_HYPHEN_MINUS = re.compile(r"(?<![\w.)\]–])-(?=\d|∞)")
_INLINE = re.compile(
    r"``(?P<code>.+?)``|`(?P<math>[^`]+)`|\[(?P<text>[^\]]+)\]\((?P<url>(?:#|https?://)[^)\s]+)\)"
    r"|\*(?P<em>[^*\s](?:[^*]*[^*\s])?)\*",
    re.DOTALL,
)


def math_html(source: str) -> str:
    """One inline formula as HTML; `w_k` gets a subscript, `e^{-γt}` a superscript, `exp` stays upright.

    A dot between numbers and letters or before a function is left out, as in formulas; vectors keep it.
    """
    keep = " keep" if len(source) <= 24 else ""
    source = _PLAIN_PRODUCT.sub("", _BEFORE_FUNCTION.sub("\u2009", source))
    return f'<span class="m{keep}">{_row(source)}</span>'


def _row(source: str) -> str:
    return "".join(_token_html(token) for token in _TOKEN.finditer(source))


def _token_html(token: re.Match[str]) -> str:
    match token.lastgroup:
        case "digraph":
            return _DIGRAPHS[token.group()]
        case "number":
            return token.group()
        case "word":
            word = token.group()
            return word if word in UPRIGHT or re.fullmatch("[a-z]{3,}", word) else f"<i>{word}</i>"
        case "greek":
            return f"<i>{token.group()}</i>"
        case "raised":
            return f"<sup>{_row(token.group().translate(_PLAIN))}</sup>"
        case "lowered":
            return f"<sub>{token.group().translate(_PLAIN)}</sub>"
        case "other":
            return escape(_SIGNS.get(token.group(), token.group()))
    inner = next(part for part in token.group("brace", "paren", "bare") if part is not None)
    if token["script"] == "_":
        return f"<sub>{inner if inner.isalpha() and len(inner) > 2 else _row(inner)}</sub>"
    return f"<sup>{_row(inner)}</sup>"


def looks_like_code(source: str) -> bool:
    """Whether a backticked piece is a name of the library or a command rather than mathematics."""
    bare = _WORDY_INDEX.sub("", source)
    if re.search(r" [=<>≤≥≈∈] ", source):  # a relation between words is no name: `score = q·k`
        bare = re.sub(r"(?<![\w.])[a-z]+(?![\w.(])", "", bare)
    return any(match.group() not in UPRIGHT for match in _CODE.finditer(bare))


def inline(text: str) -> str:
    """Running text as HTML: backticks, links and *emphasis* are read, the rest is escaped."""
    parts, end = [], 0
    for match in _INLINE.finditer(text):
        parts += [_words(text[end : match.start()]), _piece(match)]
        end = match.end()
    return "".join([*parts, _words(text[end:])])


def _words(text: str) -> str:
    """Text without markup as HTML; words that can only be mathematics are written as such."""
    words = re.split(r"(\s+)", text)
    core = [bool(_MATHEMATICAL.search(word)) and not looks_like_code(word) for word in words]
    done, place = [], 0
    while place < len(words):
        if not core[place]:
            done.append(_plain_html(words[place]))
            place += 1
            continue
        first, last = _reach(words, core, place, len(done))
        del done[len(done) - (place - first) :]
        done.append(_formula_among_words("".join(words[first : last + 1])))
        place = last + 1
    return "".join(done)


def _reach(words: list[str], core: list[bool], place: int, free: int) -> tuple[int, int]:
    """How far the formula around `words[place]` goes: over single letters, numbers and signs beside it."""
    first = last = place
    while first >= 2 and place - first + 2 <= free and _BEFORE.fullmatch(words[first - 2]):
        first -= 2
    while last + 2 < len(words) and not re.search(r"[,;:.]$", words[last]):
        following = words[last + 2].rstrip(".,;:)")
        if not (core[last + 2] or (following and _BESIDE.fullmatch(following))):
            break
        last += 2
    while last > place and re.fullmatch(r"[=<>≤≥≠+−·-]", words[last]):
        last -= 2
    return first, last


def _formula_among_words(text: str) -> str:
    found = _WORD.match(text)
    assert found is not None  # every text matches
    before, formula, after = found.groups()
    while formula.count("(") > formula.count(")") and ")" in after:
        cut = after.index(")") + 1
        formula, after = formula + after[:cut], after[cut:]
    while formula.count("(") < formula.count(")") and before.endswith("("):
        before, formula = before[:-1], "(" + formula
    return escape(before, quote=False) + math_html(formula) + escape(after, quote=False)


def _plain_html(word: str) -> str:
    return escape(_HYPHEN_MINUS.sub("−", word), quote=False)


def _piece(match: re.Match[str]) -> str:
    if match["code"] is not None:
        return f"<code>{escape(match['code'])}</code>"
    if match["math"] is not None:
        source = match["math"]
        return f"<code>{escape(source)}</code>" if looks_like_code(source) else math_html(source)
    if match["em"] is not None:
        return f"<em>{inline(match['em'])}</em>"
    return f'<a href="{escape(match["url"])}">{inline(match["text"])}</a>'


def paragraphs(text: str) -> str:
    """Text with blank lines between paragraphs as HTML paragraphs."""
    return "".join(f"<p>{inline(' '.join(part.split()))}</p>" for part in text.split("\n\n") if part.strip())


def plain(text: str) -> str:
    """The text without its markup, for titles, labels and alternative texts."""
    return _INLINE.sub(
        lambda m: next(g for g in m.group("code", "math", "text", "em") if g is not None), text
    )
