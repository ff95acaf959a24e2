"""Questions that several rules ask of a layout, and the engine that runs them; no rule stands here."""
