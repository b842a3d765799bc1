"""Our copy of the printed numbers against the text of the papers, where that text is at hand."""

import re

import pytest

from motionbook.data.published import load_published, published_item


@pytest.fixture(scope="module")
def paper(shared_data):
    """Text of a paper by key; the fact sheet holds what the second paper's text file lost of its tables."""
    files = {"staystill": ("papers/000_*.txt",), "quality4d": ("papers/002_*.txt",)}
    files["stickfigures"] = ("papers/001_*.txt", "facts/stickfigures.md")
    found = {}
    for key, patterns in files.items():
        paths = [path for pattern in patterns for path in shared_data.parent.glob(pattern)]
        if len(paths) < len(patterns):
            pytest.skip(f"the papers' text is not beside {shared_data}")
        found[key] = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    return found


def _rows(text: str, head: str, end: str) -> list[list[str]]:
    """Tab-separated lines between two lines of the text."""
    block = text[text.index(head) :]
    return [line.split("\t") for line in block[: block.index(end)].splitlines() if "\t" in line]


@pytest.mark.parametrize(
    ("item", "head", "end"),
    [
        ("staystill_table1", "General idle\tL2P", "Table 1:"),
        ("staystill_table5", "Idle with a phone\tL2P", "Table 5:"),
        ("staystill_table6", "Idle actions\tL2P", "Table 6:"),
        ("staystill_table2", "System\tElo", "Table 2:"),
        ("staystill_table3", "Motion type\tFrames", "Table 3:"),
        ("staystill_table4", "Split\tTrain", "Table 4:"),
    ],
)
def test_staystill_tables_are_as_printed(paper, item, head, end):
    about = published_item(item)
    skip = 2 if "L2P" in head else 1
    printed = {row: values for row, *values in _rows(paper["staystill"], head, end)[skip:]}
    ours = {row: [about.cells[row, column].printed for column in about.columns] for row in about.rows}
    assert ours == printed


def test_quality_table_2_is_as_printed(paper):
    about = published_item("quality4d_table2")
    printed = {row: [v.replace("$<$", "<") for v in values] for row, *values in
               _rows(paper["quality4d"], "Feature\tID", "TABLE II:")[1:]}  # fmt: skip
    assert {row: [about.cells[row, column].printed for column in about.columns] for row in about.rows} == printed


def test_quality_table_3_is_as_printed(paper):
    about = published_item("quality4d_table3")
    lines = _rows(paper["quality4d"], "Metrics\t4DHumanQA", "TABLE III:")[1:]
    printed, last = {}, ""
    for name, *values in lines:
        last = f"{last} p-value" if name.startswith("(") else name
        printed[last] = [value.strip("()") for value in values]
    assert {row: [about.cells[row, column].printed for column in about.columns] for row in about.rows} == printed


def test_quality_table_1_is_as_printed(paper):
    block = paper["quality4d"]
    block = block[block.index("Effect\tF-Test") : block.index("TABLE I:")]
    printed, kind = [], ""
    for line in block.replace(r"$\times$", "×").splitlines()[1:]:
        if line.startswith("Distortion type "):
            kind = line.removeprefix("Distortion type ")
        elif line.startswith("×"):
            printed[-1][0] += f" {line}"
        elif "\t" in line:
            effect, *values = line.split("\t")
            printed.append([f"{kind}: {effect}", *values])
    about = published_item("quality4d_table1")
    ours = []
    for row in about.rows:
        f, df1, df2, p, eta = (about.cells[row, column].printed for column in about.columns[:5])
        star = "*" if (row, "correction") in about.cells else ""
        ours.append([row, f"F{star}{df1},{df2}={f}", p, eta])
    assert ours == printed


def test_stick_figure_table_3_is_as_in_the_fact_sheet(paper):
    text = paper["stickfigures"]
    text = text[text.index("| row | params | TVR") :].split("\n\n")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]
    names = {
        "real val frames (n=512 single)": "Real validation frames",
        "Image DiT 30k (n=512)": "Image DiT, 30k",
        "real windows (half B)": "Real reference windows",
        "codec floor": "Codec reconstruction floor",
        "Video DiT random": "Video DiT, 30k (random)",
        "Video DiT image init": "Video DiT, 30k (image)",
        "+ local mixer": "Video DiT + local mixer, 30k",
        "Mini-Wan 40M": "Mini-Wan 40M, 30k",
    }
    columns = ("Params", "TVR", "LIE", "CPE", "Speed", "Motion frac.", "Jerk", "FVD")
    cells = published_item("stickfigures_table3").cells
    assert len(lines) == len(names)
    for name, *values in lines:
        for column, value in zip(columns, values, strict=True):
            number = re.match(r"[\d.]+", value)
            cell = cells.get((names[name], column))
            assert (cell is None) == (number is None), (name, column)
            assert number is None or float(number[0]) == cell.value, (name, column)


def test_eq_21_and_pilot_are_as_printed(paper):
    text = paper["quality4d"].replace("$", "").replace(" ", "")
    weights = {
        f"w_{{{n}}}={published_item('quality4d_text_weights').cells[f'w{n}', 'weight'].printed}" for n in range(1, 8)
    }
    assert all(weight in text for weight in weights)
    item = published_item("quality4d_text_pilot")
    for row in item.rows:
        chi2, df, p = (item.cells[row, column].printed for column in item.columns)
        sign = p if p.startswith("<") else f"={p}"
        assert f"({df})={chi2},p{sign}" in text, row


@pytest.mark.parametrize("item", [i.id for i in load_published().values() if i.cells])
def test_every_printed_value_occurs_in_the_text(paper, item):
    about = published_item(item)
    # what only the sixth version of the second paper prints
    elsewhere = {"96.4%", "98.2%", "91.1%", "17.2%", "> 99.99%", "125.5"} if about.paper == "stickfigures" else set()
    text = paper[about.paper].replace("\\%", "%").replace("$", "").replace("{,}", ",").replace("−", "-")
    for at, cell in about.cells.items():
        if cell.source != "paper" or cell.printed in elsewhere or item == "staystill_text_significance":
            continue
        if cell.value != cell.value and item != "staystill_table4":
            continue  # words, some of which are ours
        printed = cell.printed.lstrip("<").rstrip("*").removesuffix(" / ref.").rstrip("xM")
        loose = {printed, printed.rstrip("%") + "\\%", printed.replace(",", "{,}"), printed.replace("%", " %")}
        if about.paper == "stickfigures" and cell.value < 1:
            loose.add(printed.rstrip("%").removeprefix("0"))
        if re.fullmatch(r"[\d.]+e[+-]?\d+", printed):
            mantissa, exponent = printed.split("e")
            loose.add(rf"{mantissa}\times 10^{{{int(exponent)}}}")
        if re.fullmatch(r"\d+:\d\d:\d\d", printed) and item == "staystill_text_dataset":
            loose = {"{} hours, {} minutes and {} seconds".format(*printed.split(":"))}
        assert any(re.search(rf"(?<![\d.]){re.escape(form)}(?![\d])", text) for form in loose), (at, cell)
