"""How docs/performance.md writes values."""


def milliseconds(value):
    return f"{value:.{3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0}f}"


def threads_text(count):
    return f"{count} thread" + ("" if count == 1 else "s")


def mark(value, is_met, form=".2f"):
    """In bold where the goal is missed."""
    return f"{value:{form}}" if is_met else f"**{value:{form}}**"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"
