"""A mistake in a text that somebody wrote."""


class Mistake(ValueError):
    """What is wrong with a text (`message`) and what to do about it (`hint`); as text, both."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.message, self.hint = message, hint
