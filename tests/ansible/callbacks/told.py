"""A callback of ansible-playbook that writes each result as a line of JSON."""

from __future__ import annotations

import json
import os
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: told
type: notification
short_description: writes each result as a line of JSON
description: writes each result as a line of JSON to the file that TOLD names
"""


class CallbackModule(CallbackBase):  # type: ignore[misc]
    """Writes to the file that TOLD names."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "told"

    def _tell(self, result: Any, status: str) -> None:
        found = {"host": result._host.get_name(), "task": result._task.get_name(), "status": status}
        with open(os.environ["TOLD"], "a") as told:
            told.write(json.dumps({**found, "values": result._result}) + "\n")

    def v2_runner_on_ok(self, result: Any) -> None:
        """Notes it."""
        self._tell(result, "ok")

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        """Notes it."""
        self._tell(result, "failed")

    def v2_runner_on_unreachable(self, result: Any) -> None:
        """Notes it."""
        self._tell(result, "unreachable")
