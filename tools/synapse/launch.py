"""Runs Synapse for the tests: `launch.py LOG CONFIG`.

Its output goes to the file LOG. It stops when its standard input ends, so that it never outlives who started it.
"""

import os
import signal
import sys
import threading


def stop_with_parent() -> None:
    os.read(0, 1)  # not sys.stdin: its lock, held here, would abort the interpreter's own end
    os.kill(os.getpid(), signal.SIGTERM)


log_path, config_path = sys.argv[1:]
log = os.open(log_path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
os.dup2(log, 1)
os.dup2(log, 2)
threading.Thread(target=stop_with_parent, daemon=True).start()

from synapse.app import homeserver  # noqa: E402  (its import errors belong into the log as well)

sys.argv = ["synapse", "--config-path", config_path]
homeserver.main()
