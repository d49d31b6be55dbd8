"""Runs Synapse for the tests: `launch.py LOG APP CONFIG…`, with APP `homeserver` or `generic_worker`.

Its output goes to the file LOG. It stops when its standard input ends, so that it never outlives who started it.
Its database in SQLite does not wait for the disk: what is written outlives the process, and nobody cuts the power.
"""

import importlib
import os
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable


def stop_with_parent() -> None:
    os.read(0, 1)  # not sys.stdin: its lock, held here, would abort the interpreter's own end
    os.kill(os.getpid(), signal.SIGTERM)


log_path, app, *config_paths = sys.argv[1:]
log = os.open(log_path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
os.dup2(log, 1)
os.dup2(log, 2)
threading.Thread(target=stop_with_parent, daemon=True).start()


def without_syncs(connect: Callable[..., sqlite3.Connection]) -> Callable[..., sqlite3.Connection]:
    def connected(*args: object, **kwargs: object) -> sqlite3.Connection:
        connection = connect(*args, **kwargs)
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    return connected


sqlite3.connect = without_syncs(sqlite3.connect)
sys.argv = ["synapse", *(arg for path in config_paths for arg in ("--config-path", path))]
importlib.import_module(f"synapse.app.{app}").main()  # its import errors belong into the log as well
