"""Tables in Markdown."""


def table(rows):
    """The first row is the head; all columns but the first are of numbers."""
    rows = [rows[0], ["---", *["---:"] * (len(rows[0]) - 1)], *rows[1:]]
    return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)
