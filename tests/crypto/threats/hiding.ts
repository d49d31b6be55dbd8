/**
 * A server that hides that rooms are encrypted.
 *
 * @module
 */

import { isJsonObject } from "../../../src/types/json.ts";
import type { ClientStage } from "../../client/support/stage.ts";

/** A `fetch` to a homeserver that takes `m.room.encryption`, and never shows it. */
export function hiding({ homeserver }: Pick<ClientStage, "homeserver">): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    if (request.method === "GET" && pathname.includes("/state/m.room.encryption")) {
      return Response.json({ errcode: "M_NOT_FOUND", error: "Event not found" }, { status: 404 });
    }
    const response = await homeserver.fetch(request);
    if (request.method !== "GET") return response;
    return new Response(JSON.stringify(without(await response.json())), response);
  };
}

/** A value without the events that say it, at any depth; nor do rooms say whose place they take. */
function without(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter((item) => !isJsonObject(item) || item.type !== "m.room.encryption").map(without);
  }
  if (!isJsonObject(value)) return value;
  const { predecessor: _, ...rest } = value;
  return Object.fromEntries(Object.entries(rest).map(([name, member]) => [name, without(member)]));
}
