"""Tables as Markdown and HTML: whatever a name contains is shown, and not obeyed."""

from evenhand.results.render import TextTable


def test_names_in_angle_brackets_are_shown_and_not_obeyed():
    table = TextTable(
        title="On <b>clarity</b>",
        headers=("option", "judge | <script>"),
        rows=(("<!-- no", "1 < 2"),),
        notes=("The label '<img src=x>' wins (p < 0.001).",),
    )
    markdown = table.to_markdown()
    assert "**On &lt;b>clarity&lt;/b>**" in markdown
    assert r"| option | judge \| &lt;script> |" in markdown
    assert "| &lt;!-- no | 1 < 2 |" in markdown
    assert "The label '&lt;img src=x>' wins (p < 0.001)." in markdown
    assert not {"<b>", "<script>", "<img"} & set(table.to_html().split())
    assert "&lt;script&gt;" in table.to_html()
