/**
 * Requests to the homeserver that need no client.
 *
 * @module
 */

import type { RoomID } from "@greenroom/matrix/types";
import type { SynapseServer } from "../../tests/e2e/support/synapse.ts";

/** Who makes a request. */
export interface Caller {
  readonly accessToken: string;
  /** Whom an application service acts as. */
  readonly asUserId?: string;
}

/** Who joins a room. */
export interface Member extends Caller {
  readonly userId: string;
}

/** The body of a request or of an answer. */
export type Content = Record<string, unknown>;

/** An event of a room, as the server has it. */
export interface ServerEvent {
  readonly eventId: string;
  readonly type: string;
  readonly sender: string;
  readonly content: Content;
  /** When it was sent, by the server's clock, in milliseconds since the epoch. */
  readonly at: number;
}

interface RawEvent {
  readonly type: string;
  readonly event_id: string;
  readonly sender: string;
  readonly content: Content;
  readonly origin_server_ts: number;
}

/** Makes a request of the client-server API and returns the answer. */
export async function request(
  server: SynapseServer,
  { accessToken, asUserId }: Caller,
  [method, path]: readonly [method: string, path: string],
  body?: Content,
): Promise<Content> {
  const url = new URL(`${server.baseUrl}/_matrix/client/v3/${path}`);
  if (asUserId !== undefined) url.searchParams.set("user_id", asUserId);
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (response.ok) return await response.json();
  throw new Error(`Cannot ${method} ${path}: the server said ${response.status} ${await response.text()}`);
}

/** Creates a room without encryption, which all others join. */
export function plainRoom(
  server: SynapseServer,
  creator: Caller,
  others: readonly Member[],
): Promise<RoomID> {
  return room(server, creator, { others, body: {} });
}

/** Creates a room with encryption, which all others join. */
export function encryptedRoom(
  server: SynapseServer,
  creator: Caller,
  others: readonly Member[],
): Promise<RoomID> {
  const content = { algorithm: "m.megolm.v1.aes-sha2" };
  const body = { initial_state: [{ type: "m.room.encryption", state_key: "", content }] };
  return room(server, creator, { others, body });
}

/** Has all join who have been invited. */
export async function joinAll(
  server: SynapseServer,
  members: readonly Member[],
  roomId: RoomID,
): Promise<void> {
  for (const member of members) {
    await request(server, member, ["POST", `join/${encodeURIComponent(roomId)}`], {});
  }
}

async function room(
  server: SynapseServer,
  creator: Caller,
  { others, body }: { readonly others: readonly Member[]; readonly body: Content },
): Promise<RoomID> {
  const invite = others.map(({ userId }) => userId);
  const answer = await request(server, creator, ["POST", "createRoom"], { ...body, invite });
  const roomId = answer.room_id as RoomID; // the server has said so
  await joinAll(server, others, roomId);
  return roomId;
}

/** Sends a text that is not encrypted, and returns the event's ID. */
export async function say(
  server: SynapseServer,
  speaker: Caller,
  { roomId, body }: { readonly roomId: RoomID; readonly body: string },
): Promise<string> {
  const path = `rooms/${encodeURIComponent(roomId)}/send/m.room.message/${crypto.randomUUID()}`;
  const content = { msgtype: "m.text", body };
  return String((await request(server, speaker, ["PUT", path], content)).event_id);
}

/** All events of a room, from old to new, as the server has them. */
export async function history(
  server: SynapseServer,
  reader: Caller,
  roomId: RoomID,
): Promise<ServerEvent[]> {
  const events: ServerEvent[] = [];
  for (let from = "";;) {
    const query = new URLSearchParams({ dir: "f", limit: "1000", ...from && { from } });
    const path = `rooms/${encodeURIComponent(roomId)}/messages?${query}`;
    const page = await request(server, reader, ["GET", path]);
    for (const raw of page.chunk as RawEvent[]) {
      const { event_id: eventId, type, sender, content, origin_server_ts: at } = raw;
      events.push({ eventId, type, sender, content, at });
    }
    if (typeof page.end !== "string") return events;
    from = page.end;
  }
}
