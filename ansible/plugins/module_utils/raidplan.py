"""raidplan run by a module: the program found, its version compared, its JSON read."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import termios

VERSION = "0.1"
"""The version of raidplan that the modules know, up to the number that stands for what is compatible."""
PLACES = ["/usr/local/bin", "/usr/local/sbin"]
OK, FINDINGS, UNABLE, STOPPED, REFUSED = range(5)
"""raidplan's exit codes."""
OTHER_FORM = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What reading an answer raises that is no answer of raidplan's."""


class Raidplan:
    """The raidplan of this host. The module fails, with `result` unable, where there is none that can be used."""

    def __init__(self, module):
        self.module, self.begun = module, False
        leave_terminal()
        name = module.params["executable"]
        self.executable = module.get_bin_path(name, opt_dirs=PLACES)
        if self.executable is None:
            self.fail(
                f"raidplan is not installed on this host: there is no {name}; the role raidplan.storage.server installs it, "
                "and the option executable names one that lies elsewhere"
            )
        code, out, err = self._run(["--version"])
        if code != OK:
            self.fail(
                f"{self.executable} does not run on this host: {last_line(err) or f'it ended with {code}'}"
            )
        self.version = out.strip().rpartition(" ")[2]
        if self.version.split(".")[:2] != VERSION.split("."):
            self.fail(
                f"{self.executable} is version {self.version}, and this collection works with {VERSION}.x"
            )

    def data(self, words, codes):
        """The exit code, the JSON that is printed and the lines that are said; the module fails for any other code."""
        code, out, err = self._run(words)
        said = err.splitlines()
        try:
            found = json.loads(out) if code in codes else None
        except ValueError:
            found = None
        if not isinstance(found, dict):
            self.fail(
                last_line(err) or f"raidplan {words[0]} ended with {code}", exit_code=code, messages=said
            )
        return code, found, said

    def apply(self, words, events):
        """The exit code, the lines that are said and the events in that file; `begun` says whether a step was begun."""
        code, _out, err = self._run(["apply", *words])
        told = read_events(events)
        self.begun = any(event["event"] in ("started", "done", "failed") for event in told)
        return code, err.splitlines(), told

    def fail(self, message, **values):
        """Ends the module: raidplan could do nothing."""
        self.module.fail_json(msg=message, **{"changed": False, "result": "unable", **values})

    def read(self, work):
        """The work done, whose every answer of raidplan's has to be of the form that the collection knows; else the module fails."""
        try:
            work()
        except OTHER_FORM as error:
            self.fail(
                f"{self.executable} answered in a form that this collection does not know: {type(error).__name__}: {error}",
                result="stopped" if self.begun else "unable",
                changed=self.begun,
            )

    def _run(self, words):
        """Bytes that are no UTF-8 are replaced, so that the result is kept whatever a program says."""
        argv, environment = [self.executable, *words], {"NO_COLOR": "1"}
        try:
            return self.module.run_command(
                argv, environ_update=environment, errors="replace", handle_exceptions=False
            )
        except OSError as error:
            self.fail(f"{self.executable} does not run on this host: {error.strerror}")


def leave_terminal():
    """Gives up the terminal of this process and of what it starts, so that raidplan cannot wait for somebody to type.

    The process group stays, so that the end of a job's time ends raidplan too.
    """
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:
        return  # there is none, as with async
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # which the first process of a session gets by it
    fcntl.ioctl(terminal, termios.TIOCNOTTY)
    os.close(terminal)
    signal.signal(signal.SIGHUP, before)


def read_events(file):
    """The events that were written; the last line of one who was killed may be half a line."""
    found = []
    if os.path.exists(file):
        with open(file, encoding="utf-8", errors="replace") as opened:
            for line in opened:
                try:
                    event = json.loads(line)
                except ValueError:
                    continue
                if isinstance(event, dict) and isinstance(event.get("event"), str):
                    found.append(event)
    return found


def last_line(text):
    """The last line that is not empty: what a program says before it gives up."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def layout_file(module):
    """The path of the layout: O(src), or a file of the module's own with O(layout) in it; None if neither is given."""
    layout = module.params["layout"]
    if layout is None:
        return module.params["src"]
    if not isinstance(layout, (dict, str)):
        module.fail_json(
            msg="layout is neither a mapping nor a text", changed=False, result="unable", exit_code=UNABLE
        )
    file = os.path.join(module.tmpdir, "layout.yaml")
    with open(file, "w", encoding="utf-8") as opened:
        opened.write(layout if isinstance(layout, str) else json.dumps(layout, ensure_ascii=False))
    return file


def gravest(findings, file=None):
    """The first of the gravest findings, as a sentence with its place; one in the module's own file has the line alone."""
    order = ("error", "warning", "note")
    found = min(findings, key=lambda finding: order.index(finding["severity"]))
    place = f"line {found['line']}" if found["file"] == file else f"{found['file']}:{found['line']}"
    more = len(findings) - 1
    return f"{place}: {found['message']}" + (f" (and {more} more in findings)" if more else "")
