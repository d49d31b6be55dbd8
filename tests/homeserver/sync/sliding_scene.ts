/**
 * A homeserver with sliding sync, and users who ask it.
 *
 * @module
 */

import { assert } from "@std/assert";
import { Homeserver, TestClock } from "@greenroom/matrix/testing";
import type { Json } from "../harness.ts";

export const FEATURE = "org.matrix.simplified_msc3575";
const EXTENSIONS = Object.fromEntries(
  ["to_device", "e2ee", "account_data", "receipts", "typing"].map((name) => [name, { enabled: true }]),
);

/** Users of a homeserver with sliding sync. */
export function scene(unstableFeatures: Record<string, boolean> = { [FEATURE]: true }) {
  const clock = new TestClock();
  const homeserver = new Homeserver({ clock, unstableFeatures });
  const user = (name: string) => {
    const { accessToken } = homeserver.createUser(name);
    const ask = async (method: string, path: string, body?: Json): Promise<Response> =>
      await homeserver.fetch(`${homeserver.baseUrl}/_matrix/client/${path}`, {
        method,
        headers: { authorization: `Bearer ${accessToken}` },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    const done = async (...[method, path, body]: Parameters<typeof ask>): Promise<Json> => {
      const response = await ask(method, path, body);
      const answer = await response.json();
      assert(response.ok, JSON.stringify(answer));
      return answer;
    };
    let count = 0;
    return {
      ask,
      done,
      say: async (room: string, body: string) =>
        (await done("PUT", `v3/rooms/${room}/send/m.room.message/${count++}`, { msgtype: "m.text", body }))
          .event_id,
      createRoom: async (body: Json = {}) =>
        (await done("POST", "v3/createRoom", { preset: "public_chat", ...body })).room_id as string,
      slide: (pos: string | undefined, last: number, { timeout = 0, conn = "" } = {}): Promise<Json> =>
        done("POST", `unstable/${FEATURE}/sync?timeout=${timeout}${pos === undefined ? "" : `&pos=${pos}`}`, {
          conn_id: conn,
          lists: { l: { ranges: [[0, last]], timeline_limit: 3, required_state: [["*", "*"]] } },
          extensions: EXTENSIONS,
        }),
      slideMerged: (pos: string | undefined, body: Json = {}): Promise<Json> =>
        done("POST", "v4/sync", {
          ...(pos !== undefined && { pos }),
          lists: { l: { timeline_limit: 3, required_state: { include: [{}] } } },
          extensions: EXTENSIONS,
          ...body,
        }),
    };
  };
  return { homeserver, clock, user, [Symbol.asyncDispose]: () => homeserver[Symbol.asyncDispose]() };
}
