"""The part of a long text that is worth keeping.

Programs say what went wrong at the end, and what they were doing at the start.
"""

LONGEST_MESSAGE = 4_000
"""What is kept of the message of one test."""


def excerpt(text: str, limit: int) -> str:
    """Returns the text, or its start and its longer end with a count of what is missing between them."""
    if len(text) <= limit:
        return text
    head, tail = limit // 4, limit - limit // 4
    return f"{text[:head]}\n[{len(text) - limit} characters left out]\n{text[-tail:]}"
