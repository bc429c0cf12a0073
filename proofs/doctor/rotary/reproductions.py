"""Three lines that show a finding about random content, by its code."""

from __future__ import annotations


def reproduction(code: str, dim: int) -> str:
    """Three lines that show it; `subject` is the callable."""
    start = f"x, ids = torch.randn(2, 3, 4, {dim}), torch.arange(4).expand(2, 4)"
    return "\n".join((start, *LINES.get(code, ("print(subject(x, ids))",))))


LINES = {
    "call": ("y = subject(x, ids)", "print(y.shape, y.isfinite().all())"),
    "content": ("y = subject(x, ids)", "print((y[1, 2] - subject(x[1:, 2:], ids[1:])[0, 0]).abs().max())"),
    "tail": ("y = subject(x, ids)", "print((y != x).any(0).any(0).any(0))"),
    "relative": (
        "def score(t): return subject(x, ids + t + 1)[0, 0, 0] @ subject(x, ids + t)[0, 1, 0]",
        "print(score(0) - score(2047))",
    ),
    "batch": ("y = subject(x, ids)", "print((subject(x[1:], ids[1:]) - y[1:]).abs().max())"),
    "single-token": (
        "y = subject(x, ids)",
        "print((subject(x[:, :, 2:3], ids[:, 2:3]) - y[:, :, 2:3]).abs().max())",
    ),
    "strides": (
        "view = x.transpose(1, 2).contiguous().transpose(1, 2)",
        "print((subject(view, ids) - subject(x, ids)).abs().max())",
    ),
    "purity": (
        "before, y = x.clone(), subject(x, ids)",
        "print((x != before).any(), (subject(x, ids) != y).any())",
    ),
}
