"""Runs a program in a terminal: terminal.py <columns> <program> [arguments].

What comes on standard input is typed, what the terminal shows goes to standard output, and the
status is the program's.
"""

import fcntl
import os
import pty
import select
import struct
import sys
import termios

pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
watched = [terminal, 0]
while True:
    ready, _, _ = select.select(watched, [], [])
    if 0 in ready:
        typed = os.read(0, 4096)
        if typed:
            os.write(terminal, typed)
        else:
            watched.remove(0)
    if terminal in ready:
        try:
            shown = os.read(terminal, 4096)
        except OSError:  # Linux says so of a terminal that nobody has open any more
            break
        if not shown:
            break
        os.write(1, shown)
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.exit(code if code >= 0 else 128 - code)
