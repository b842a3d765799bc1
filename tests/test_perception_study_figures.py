"""The study's pages as figures, and the study in a notebook."""

import io

import pytest
from study_participant import LOOK, write_clips

from motionbook.perception import read_responses
from motionbook.perception.study import build_study, vendor
from motionbook.report import study_pages
from motionbook.report.browser import find_chromium
from motionbook.report.study_preview import StudyPreview

pytest.importorskip("imageio_ffmpeg", reason="films need imageio-ffmpeg")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    try:
        vendor.jspsych()
    except RuntimeError as error:
        pytest.skip(f"jsPsych cannot be fetched: {str(error).splitlines()[0]}")
    folder = tmp_path_factory.mktemp("study")
    return build_study(write_clips(folder / "clips"), folder / "site", people=1, look=LOOK, scored=2), folder / "site"


def test_without_a_browser_the_page_is_drawn_and_the_figure_says_so(study, monkeypatch):
    monkeypatch.setattr(study_pages, "find_chromium", lambda: None)
    made = study_pages.study_page_figure(study[1], language="es")
    assert made.source == "drawn, for lack of a browser"
    texts = [text.get_text() for text in made.figure.texts]
    assert "¿Qué vídeo es el más natural y realista?" in texts and len(made.figure.axes) == 2
    made.figure.savefig(io.BytesIO())


@pytest.mark.skipif(find_chromium() is None, reason="no Chromium on the PATH; apt package chromium")
def test_the_screenshot_is_of_the_page_asked_for(study, monkeypatch):
    import matplotlib.pyplot as plt

    made = study_pages.study_page_figure(study[1], size=(800, 700))
    assert made.source == "screenshot" and made.figure.axes[0].images[0].get_array().shape[:2] == (700, 800)
    monkeypatch.chdir(study[1].parent)
    phone = study_pages.page_picture(study[1].name, place="consent", language="eu", size=(390, 700))
    assert plt.imread(io.BytesIO(phone)).shape[:2] == (700, 390)
    with pytest.raises(ValueError, match="place"):
        study_pages.page_picture(study[1], place="nowhere")


def test_the_preview_gives_the_columns_of_the_published_answers(study, tmp_path):
    pytest.importorskip("ipywidgets")
    preview = StudyPreview(study[1], language="eu")
    assert "Zein bideo da" in preview._head.value and len(preview._films.children) == 2
    for trial in list(preview.trials):
        preview.buttons[4 if trial["kind"] == "attention" else 1].click()
    assert all(button.disabled for button in preview.buttons)
    preview.responses().to_csv(tmp_path / "responses.csv", index=False)
    table = read_responses(tmp_path / "responses.csv")
    assert list(table.left) == [t["left"] for t in preview.trials]
    assert set(table.choice) == {-1, 2} and set(table.language) == {"eu"}
    with pytest.raises(ValueError, match="every trial is answered"):
        preview.answer(1)
