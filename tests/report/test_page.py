"""The page is one file, escapes what it is given, and reads well wide and narrow."""

import re

import pandas as pd
import pytest

from explicate.report import Section, render_report
from explicate.report.plotting import plot_bars

NASTY = """<script>alert("x")</script>"' onerror='y"""


@pytest.fixture(scope="module")
def page():
    table = pd.DataFrame({NASTY: [1.23456789, float("nan")], "wide " * 8: ["x" * 200, NASTY]})
    bars = pd.DataFrame({"feature": [NASTY, "b $"], "importance": [0.7, 0.3]})
    figure = plot_bars(bars, "feature", "importance", "importance")
    sections = [
        Section(
            "Scores " + NASTY,
            "one\ntwo " + NASTY,
            {"Bars of " + NASTY: figure},
            table,
            details="a   1\nb   2 " + NASTY,
            parts=[Section("Part " + NASTY, table=table)],
        ),
        Section("Empty", table=table.head(0)),
    ]
    return render_report("Report " + NASTY, "Lead " + NASTY, sections)


def test_untrusted_strings_are_escaped(page):
    assert "<script" not in page
    assert page.count("&lt;script&gt;alert(&#34;x&#34;)") >= 6
    assert re.findall(r'alt="([^"]*)"', page)[0].startswith("Bars of &lt;script")


def test_nothing_is_fetched(page):
    assert not re.search(r"""(src|href)=["'](?!data:|#)""", page)
    assert "url(" not in page


def test_numbers_stand_right_and_zero_has_no_sign():
    table = pd.DataFrame({"name": ["a"], "value": [-0.0], "kept": [True]})
    page = render_report("t", "", [Section("s", table=table)])
    assert '<td class="number">0</td>' in page
    assert page.count('class="number"') == 2


def test_long_tables_say_what_they_leave_out():
    page = render_report("t", "", [Section("s", table=pd.DataFrame({"a": range(10)}))], max_rows=3)
    assert "7 more rows" in page
    assert page.count("<td") == 3


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "light"), (390, "dark")])
def test_page_in_a_browser(page, width, scheme, tmp_path, chromium):
    path = tmp_path / "report.html"
    path.write_text(page, encoding="utf-8")
    tab = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    errors, requests = [], []
    tab.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("dialog", lambda dialog: (errors.append("a script ran"), dialog.dismiss()))
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto(path.as_uri())
    assert not errors
    assert [url for url in requests if not url.startswith(("data:", "file:"))] == []
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    images = tab.evaluate("[...document.images].map(i => [i.alt, i.naturalWidth])")
    assert images
    assert all(alt and size for alt, size in images)
    assert tab.locator("h1").inner_text() == "Report " + NASTY
    assert tab.locator("h3").inner_text() == "Part " + NASTY
    assert not tab.locator("pre").is_visible()
    tab.locator("summary").click()
    assert tab.locator("pre").is_visible()
    paper, ink = tab.evaluate("['backgroundColor', 'color'].map(name => getComputedStyle(document.body)[name])")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    assert paper != ink
