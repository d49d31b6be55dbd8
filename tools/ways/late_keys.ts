/**
 * A homeserver whose messages overtake their keys.
 *
 * @module
 */

import type { SyncResponse, SyncToDeviceEvent } from "@greenroom/matrix/types";

/** Holds back what is sent to the device until a message has come, and lets it come by itself then. */
export function lateKeys(answer: typeof fetch): typeof fetch {
  let held: SyncToDeviceEvent[] = [];
  let late: SyncResponse | undefined;
  return async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    if (!pathname.endsWith("/sync")) return await answer(input, init);
    if (late !== undefined) {
      const response = Response.json(late);
      late = undefined;
      return response;
    }
    const { to_device: { events = [] } = {}, ...early }: SyncResponse = await (await answer(input, init))
      .json();
    held.push(...events);
    const hasMessage = Object.values(early.rooms?.join ?? {}).some((room) =>
      room?.timeline?.events.some(({ type }) => type === "m.room.encrypted")
    );
    if (hasMessage) {
      late = { next_batch: early.next_batch, to_device: { events: held } };
      held = [];
    }
    return Response.json(early);
  };
}
