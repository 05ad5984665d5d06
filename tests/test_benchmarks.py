"""The page of all benchmarks: what fails is reported and ends nothing, and what was kept of the page stays."""

from benchmarks import __main__ as command


def test_a_benchmark_that_fails_is_told_and_the_next_one_runs(monkeypatch, tmp_path, capsys):
    listed = [command.of("no_such_module", "It is not there"), command.of("__init__", "It prints nothing")]
    monkeypatch.setattr(command, "ALL", (*listed, command.of("clusters", "It is long", is_long=True)))
    page = tmp_path / "page.md"
    page.write_text("# Benchmarks\n\nold\n\n## Longer runs\n\nkept\n", encoding="utf-8")
    assert command.main(["--quick", "--out", str(page)]) == 0
    written = page.read_text(encoding="utf-8")
    assert "**Failed**: " in written
    assert "No module named benchmarks.no_such_module" in written
    assert written.index("It is not there") < written.index("It prints nothing") < written.index("It is long")
    assert written.count("**Failed**") == 1
    assert "Not run: it takes minutes" in written
    assert written.endswith("## Longer runs\n\nkept\n")
    assert "old" not in written
    assert capsys.readouterr().out.strip() in written


def test_every_benchmark_of_the_folder_is_on_the_page():
    modules = {path.stem for path in (command.ROOT / "benchmarks").glob("*.py")} - {"__init__", "__main__"}
    assert {each.name.partition(":")[0] for each in command.ALL} == modules
