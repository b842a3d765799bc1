"""The real book, as `make book` left it: set MOTIONBOOK_BOOK_HTML to its folder (CI does)."""

import os
from pathlib import Path

import pytest

from motionbook.report.browser import find_chromium
from motionbook.report.check_book import browser_problems, static_problems


@pytest.fixture(scope="module")
def html() -> Path:
    folder = os.environ.get("MOTIONBOOK_BOOK_HTML")
    if not folder:
        pytest.skip("no rendered book: set MOTIONBOOK_BOOK_HTML=book/_build/html after `make book`")
    return Path(folder)


def test_pages_are_whole_and_load_nothing_from_elsewhere(html):
    assert static_problems(html) == []


@pytest.mark.skipif(find_chromium() is None, reason="no Chromium on the PATH; apt package chromium")
def test_every_page_works_in_a_browser_without_a_network(html):
    assert browser_problems(html) == []
