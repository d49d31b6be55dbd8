/**
 * A server that says of every event what only this library knows, wherever it shows one.
 *
 * @module
 */

import type { JsonObject } from "@greenroom/matrix/types";
import { isJsonObject } from "../../../src/types/json.ts";

/** Where no event comes from. */
export const NOWHERE = 1 << 20;

const INFO = {
  senderTrust: "verified",
  keySource: "direct",
  sessionId: "forged",
  messageIndex: 0,
  senderKey: "forged",
  senderDevice: "FORGED",
  relation: "encrypted",
};

/** What it says: by the names that were, are or might be those of this library. */
export const POISON: JsonObject = {
  encryption: INFO,
  encryptions: { encryption: INFO },
  "Symbol(encryption)": INFO,
  "@@encryption": INFO,
  source: NOWHERE,
};

/** Says it of all events in a value, in place, at any depth; gives the value. */
export function poison<T>(value: T): T {
  for (const event of eventsIn(value)) Object.assign(event, structuredClone(POISON));
  return value;
}

/** A `fetch` to a server that says it in all its answers. */
export function poisoned(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.headers.get("content-type")?.startsWith("application/json") !== true) return response;
    const { status, headers } = response;
    const body = JSON.stringify(poison(await response.json()));
    headers.delete("content-length");
    return new Response(body, { status, headers });
  };
}

/** Everything in a value that looks like an event, at any depth, those within events too. */
export function eventsIn(value: unknown): JsonObject[] {
  if (typeof value !== "object" || value === null) return [];
  const inside = Object.values(value).flatMap(eventsIn);
  const isEvent = isJsonObject(value) && typeof value.type === "string" && isJsonObject(value.content);
  return isEvent ? [value, ...inside] : inside;
}
