/**
 * A user who invites, with history to share, and one who is invited.
 *
 * @module
 */

import type { Client, ClientOptions } from "@greenroom/matrix";
import type { RoomID, StateEvent } from "@greenroom/matrix/types";
import { ENCRYPTED } from "../../client/support/encrypted_room.ts";
import type { ClientStage } from "../../client/support/stage.ts";
import { recoveryKeyOf } from "../../crypto/secrets/recovery_keys.ts";

/** The user who is invited. */
export const GUEST = "@guest:localhost";

/** The recovery key of a user. */
export function keyOf(name: string): string {
  return recoveryKeyOf(name.length);
}

/** Options of a client that is verified, and shares history. */
export function sharing(name: string): Exclude<ClientOptions["encryption"], boolean> {
  return { recoveryKey: keyOf(name), backup: false, shareHistory: true };
}

/** A client of a user that shares history. */
export async function sharer(
  here: ClientStage,
  name: string,
  options: Partial<ClientOptions> = {},
): Promise<Client> {
  const client = here.client(name, { encryption: sharing(name), retry: false, ...options });
  await client.crypto?.start();
  return client;
}

/** A client of a new device of a user that shares history. */
export async function newSharer(
  here: ClientStage,
  name: string,
  options: Partial<ClientOptions> = {},
): Promise<Client> {
  const client = here.client(name, { accessToken: "", encryption: sharing(name), retry: false, ...options });
  await client.login({ identifier: `@${name}:localhost`, password: `password of ${name}` });
  await client.crypto?.start();
  return client;
}

/** The initial state of an encrypted room with a history visibility. */
export function withHistory(visibility: string): Pick<StateEvent, "type" | "state_key" | "content">[] {
  const content = { history_visibility: visibility };
  return [...ENCRYPTED, { type: "m.room.history_visibility", state_key: "", content }];
}

/** A room in which someone has said things, with a key for each. */
export async function roomOf(host: Client, texts: readonly string[], visibility = "shared"): Promise<RoomID> {
  const roomId = await host.createRoom({ initialState: withHistory(visibility) });
  await host.syncOnce();
  await says(host, roomId, texts);
  return roomId;
}

/** Has someone say things, with a key for each. */
export async function says(host: Client, roomId: RoomID, texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    await host.sendText(roomId, text);
    await host.crypto?.discardGroupSession(roomId);
  }
}

/** Has someone accept an invitation, and take what comes with it. */
export async function accepts(guest: Client, roomId: RoomID): Promise<void> {
  await guest.syncOnce();
  await guest.joinRoom(roomId);
  await guest.syncOnce();
  await guest.crypto?.idle();
}
