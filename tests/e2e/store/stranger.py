"""Another program that looks into a file of SQLite, as a backup does. Argument: the file."""

import sqlite3
import sys

database = sqlite3.connect(sys.argv[1])
database.execute("SELECT count(*) FROM sqlite_schema").fetchone()
database.close()
