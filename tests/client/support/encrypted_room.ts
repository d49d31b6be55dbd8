/**
 * An encrypted room and its members.
 *
 * @module
 */

import type { Client } from "@greenroom/matrix";
import type { RoomID, UserID } from "@greenroom/matrix/types";
import type { ClientStage } from "./stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** The content of `m.room.encryption`. */
export const MEGOLM = { algorithm: "m.megolm.v1.aes-sha2" };

/** The initial state of an encrypted room. */
export const ENCRYPTED = [{ type: "m.room.encryption", state_key: "", content: MEGOLM }];

/** Two users in an encrypted room, syncing. */
export async function twoInARoom(
  stage: ClientStage,
): Promise<{ alice: Client; bob: Client; roomId: RoomID }> {
  const alice = stage.client("alice", { encryption: EVERYBODY });
  const bob = stage.client("bob", { encryption: EVERYBODY });
  for (const client of [alice, bob]) await begin(stage, client);
  const roomId = await alice.createRoom({
    invitees: ["@bob:localhost"],
    initialState: ENCRYPTED,
  });
  await bob.joinRoom(roomId);
  await stage.settle();
  return { alice, bob, roomId };
}

/** Has a client sync, and waits until it has published its keys. */
export async function begin(stage: ClientStage, client: Client): Promise<void> {
  const { requests } = stage.homeserver;
  const syncs = (): number =>
    requests.filter("GET", "/sync").filter(({ user }) => user === client.mxid).length;
  client.setMxid((await client.whoami()).user_id);
  const before = syncs();
  client.start();
  await stage.until(() => syncs() > before); // its keys are published before
}

/** Has a client sync, and join a room to which a member invites its user. */
export async function beginIn(
  stage: ClientStage,
  client: Client,
  { roomId, member }: { readonly roomId: RoomID; readonly member: Client },
): Promise<void> {
  await begin(stage, client);
  await member.inviteUser(roomId, client.mxid as UserID); // begin() has set it
  await client.joinRoom(roomId);
  await stage.settle();
}

/** A fetch that takes the messages to a device out of sync responses, until they are let through. */
export function withholding(
  stage: ClientStage,
): { fetch: typeof fetch; held: unknown[]; release: () => void } {
  const held: unknown[] = [];
  let isHolding = true;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const response = await stage.homeserver.fetch(request);
    if (!new URL(request.url).pathname.endsWith("/sync") || !response.ok) return response;
    const body = await response.json();
    const events = body.to_device?.events ?? [];
    held.push(...events.splice(0));
    if (!isHolding && held.length > 0) body.to_device = { events: held.splice(0) };
    return Response.json(body);
  };
  return { fetch, held, release: () => void (isHolding = false) };
}
