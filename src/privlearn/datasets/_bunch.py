"""A dictionary whose entries can also be read as attributes."""

from typing import Any


class Bunch(dict[str, Any]):
    """A dict that also answers `bunch.data` for `bunch["data"]`, as scikit-learn's does.

    It is our own because importing scikit-learn's also imports pandas where that is installed,
    which takes a second or more; loading a data set should not.
    """

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (entries are of any type)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(
                f"no entry {name!r}; there are {', '.join(map(repr, self))}"
            ) from None

    def __setattr__(self, name: str, value: object) -> None:
        self[name] = value

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]
