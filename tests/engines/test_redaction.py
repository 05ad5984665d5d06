import pytest

from evenhand.engines.replies import check_variable_name, redact
from evenhand.errors import InvalidInputError


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "KEY", "TEAM_2_KEY", "AZURE_API_KEY"])
def test_names_of_environment_variables_are_accepted(name):
    check_variable_name("api_key_env", name)


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-abcdef0123456789",
        "gsk_abcdefABCDEF0123456789",
        "hf_AbCdEfGhIjKl",
        "AKIA1234567890ABCDEF",
        "0123456789abcdef0123456789abcdef",
        "Bearer abc",
        "my key",
        "-",
    ],
)
def test_a_key_in_place_of_a_name_is_refused_and_not_repeated(key):
    with pytest.raises(InvalidInputError, match="environment variable") as caught:
        check_variable_name("api_key_env", key)
    assert key == "-" or key not in str(caught.value)


def test_the_environments_secrets_go(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "plainwordkey")
    monkeypatch.setenv("SOME_FOLDER", "plainfolder")
    assert redact("plainwordkey in plainfolder") == "[redacted] in plainfolder"


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-abcdefghijkl",
        "header Authorization: Bearer abc.def_ghi",
        "Authorization: Basic dXNlcjpwYXNz",
        "at https://user:password@example.org/v1",
        "key gsk_0123456789abc",
        "AIzaSyA1234567890123456789012345678",
    ],
)
def test_what_looks_like_a_key_goes(text):
    redacted = redact(text)
    assert "[redacted]" in redacted
    for secret in ("sk-abc", "abc.def", "dXNl", "password", "gsk_0", "AIza"):
        assert secret not in redacted


def test_ordinary_text_stays():
    text = "the model 'gpt-4.1-mini' is a basic one; see https://example.org/docs?a=b, task-oriented, key-value"
    assert redact(text) == text
