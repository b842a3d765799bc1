"""A reader's own table: a CSV file of any usual separator and encoding, or a spreadsheet, with its lines' numbers."""

import csv
from collections.abc import Iterable
from pathlib import Path

_SEPARATORS = ",;\t|"


def read_table(path: str | Path, texts: Iterable[str] = ()):
    """The rows of a file as a data frame whose index counts lines, so that line 2 of a CSV file is row 0.

    The separator is the one of comma, semicolon, tab and bar that splits the header into most names. Text is read as
    UTF-8, with or without a byte order mark, else as Windows-1252, which spreadsheets of Western Europe write. Empty
    cells are empty texts or NaN; empty lines are left out.

    Parameters
    ----------
    path : .csv or any other name of a text, .xlsx or .xlsm
    texts : names of columns that hold names, which are not numbers: "007" stays "007".

    Raises
    ------
    ValueError
        Naming the file, and the line where there is one.
    """
    import pandas as pd

    path = Path(path)
    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    if path.suffix.lower() in (".xlsx", ".xlsm"):
        try:
            frame = pd.read_excel(path, dtype=object, keep_default_na=False, engine="openpyxl")
        except ImportError as error:
            raise ImportError(
                f"{path}: reading a spreadsheet needs openpyxl; pip install openpyxl, or save the sheet as CSV"
            ) from error
        return _without_empty_lines(frame)
    content = path.read_bytes()
    try:
        content.decode("utf-8-sig")
        encoding = "utf-8-sig"
    except UnicodeDecodeError:
        encoding = "cp1252"
    header = content.decode(encoding, errors="replace").partition("\n")[0].strip("\r")
    separator = max(_SEPARATORS, key=lambda mark: len(next(csv.reader([header], delimiter=mark), [])))
    try:
        frame = pd.read_csv(
            path,
            sep=separator,
            decimal="," if separator == ";" else ".",
            dtype=dict.fromkeys(texts, str),
            keep_default_na=False,
            encoding=encoding,
            low_memory=False,
            skip_blank_lines=False,
        )
    except (pd.errors.ParserError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a table, {str(error).strip()}") from error
    except pd.errors.EmptyDataError as error:
        raise ValueError(f"{path}: the file is empty") from error
    if not isinstance(frame.index, pd.RangeIndex):
        raise ValueError(f"{path}: its lines have more values than its first line has names")
    return _without_empty_lines(frame)


def _without_empty_lines(frame):
    first = frame.iloc[:, 0]
    blank = frame.index[first.isna() | (first == "")]
    # the others keep the number of their line
    return frame.drop(index=blank[(frame.loc[blank].isna() | (frame.loc[blank] == "")).all(axis=1)])
