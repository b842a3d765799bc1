"""Inner loops as machine code: numba, imported when the first of them is needed."""


def compiled(function, signature):
    """The function as machine code for one signature, kept on disk between processes where a folder can be written."""
    from numba import njit

    try:
        return njit(signature, cache=True)(function)
    except RuntimeError:  # numba found no folder for its cache
        return njit(signature)(function)
