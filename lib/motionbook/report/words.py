"""Words beside numbers: notes and captions put together from parts that were written for the middle of a sentence."""


def sentences(*parts: str) -> str:
    """Parts as sentences, each with a capital at its start and a full stop at its end; empty ones are left out.

    Data labels such as "embedded performers (synthetic)" start small, since most of them stand inside a sentence.
    """
    made = []
    for part in (part.strip() for part in parts):
        if part:
            made.append(f"{part[0].upper()}{part[1:]}" + ("" if part[-1] in ".!?" else "."))
    return " ".join(made)
