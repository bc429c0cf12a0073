"""Owns the small markup of all running text: mathematics in backticks, links, emphasis; asked by the pages.

`math` becomes spans of italics, subscripts and superscripts (no font is needed), `words_like_code` become
code, [text](#anchor) a link. Everything else is escaped, so no text can inject markup.
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
_CODE = re.compile(r"[A-Za-z]{2,}_[A-Za-z]|[A-Za-z]{4,}|\.(?:py|json|html)\b|--")
_WORDY_INDEX = re.compile(r"(?<=\b[A-Za-zα-ω])_[a-z]+")
_INLINE = re.compile(
    r"``(?P<code>.+?)``|`(?P<math>[^`]+)`|\[(?P<text>[^\]]+)\]\((?P<url>(?:#|https?://)[^)\s]+)\)"
    r"|\*(?P<em>[^*\s](?:[^*]*[^*\s])?)\*",
    re.DOTALL,
)


def math_html(source: str) -> str:
    """One inline formula as HTML; `w_k` gets a subscript, `e^{-γt}` a superscript, `exp` stays upright."""
    keep = " keep" if len(source) <= 24 else ""
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
            return token.group() if token.group() in UPRIGHT else f"<i>{token.group()}</i>"
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
    return any(match.group() not in UPRIGHT for match in _CODE.finditer(bare))


def inline(text: str) -> str:
    """Running text as HTML: backticks, links and *emphasis* are read, the rest is escaped."""
    parts, end = [], 0
    for match in _INLINE.finditer(text):
        parts += [escape(text[end : match.start()], quote=False), _piece(match)]
        end = match.end()
    return "".join([*parts, escape(text[end:], quote=False)])


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
