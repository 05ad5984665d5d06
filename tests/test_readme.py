"""Every code block of the README and of docs/ is run as it stands, and prints what the page says that it prints."""

import os
import re

import pytest

from tests.support.pages import PAGES, README, ROOT, SERVER, STANDS_FOR, agrees, blocks, run

WITH_BLOCKS = [page for page in PAGES if blocks(page)]


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    return run(WITH_BLOCKS, tmp_path_factory.mktemp("pages"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="pages are run in forks of one process")
@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_blocks_run_and_print_what_the_page_shows(page, ran):
    printed, asked = ran[page].printed, ran[page].asked
    assert printed is not None, ran[page].told
    for block, now in zip(blocks(page), printed, strict=True):
        assert block.shown is None or agrees(block.shown, now), f"{block.code}prints\n{now}"
    assert (asked > 0) == any(SERVER in block.code and "--dry-run" not in block.code for block in blocks(page))


def test_every_fence_of_code_is_a_block_that_is_run():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        fences = re.findall(r"^ *```(\w*)", text, re.MULTILINE)
        assert {*fences} <= {"", "python", "sh", "text", "yaml", "json", "html"}, page
        assert len(blocks(page)) == sum(fence in {"python", "sh"} for fence in fences), page


def test_the_readme_is_short_and_holds_the_two_commands_and_three_jobs_with_what_they_print():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 150
    codes = [block.code.strip() for block in blocks(README)]
    assert {*STANDS_FOR} <= {*codes}
    assert sum(block.shown is not None for block in blocks(README)) >= 3
