"""A unitxt inference engine that answers by a function of the conversation, to compare with unitxt's own judges."""

from typing import Any

from evenhand.unitxt.bases import InferenceEngine


class ScriptedInferenceEngine(InferenceEngine):
    """Answers with ``script(messages)``; keeps what it was sent.

    unitxt copies artifacts by their fields, so the script is found by its name.
    """

    use_cache: bool = False
    label: str = "scripted"
    script: str = "assess"

    def prepare_engine(self) -> None:
        pass

    def get_engine_id(self) -> str:
        return "scripted"

    def _infer(self, dataset: Any, return_meta_data: bool = False) -> list[str]:
        SENT.extend(dict(instance) for instance in dataset)
        return [SCRIPTS[self.script](instance["source"]) for instance in dataset]


SCRIPTS: dict[str, Any] = {}
SENT: list[dict[str, Any]] = []


def script(function: Any) -> Any:
    """Register a script under its name, which no script of another test module may have."""
    known = SCRIPTS.get(function.__name__)
    assert known is None or known.__module__ == function.__module__, f"two scripts are called {function.__name__!r}"
    SCRIPTS[function.__name__] = function
    return function
