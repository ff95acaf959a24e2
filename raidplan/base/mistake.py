"""A mistake in a text that somebody wrote."""


class Mistake(ValueError):
    """The fault of a text (`message`) and its remedy (`hint`); as text, both."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.message, self.hint = message, hint
