"""mautrix-python's application service, which counts the messages that it is sent.

Arguments: the homeserver's address, the port, the two tokens, and after how many messages it says so.
"""

import asyncio
import sys

from mautrix.appservice import AppService, ASStateStore
from mautrix.client.state_store import MemoryStateStore


class StateStore(ASStateStore, MemoryStateStore):
    """In memory."""

    def __init__(self):
        ASStateStore.__init__(self)
        MemoryStateStore.__init__(self)


async def main():
    base_url, port, as_token, hs_token, counts = sys.argv[1:]
    left = [int(count) for count in counts.split(",")]
    appservice = AppService(
        base_url,
        "localhost",
        as_token,
        hs_token,
        "bench",
        "bench",
        state_store=StateStore(),
    )

    @appservice.matrix_event_handler
    async def handle(event):
        left[0] -= 1
        if left[0] == 0:
            left.pop(0)
            print("done", flush=True)

    await appservice.start("127.0.0.1", int(port))
    print("ready", flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
