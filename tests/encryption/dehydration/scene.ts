/**
 * A user with a dehydrated device, and a friend who writes while no other device is there.
 *
 * @module
 */

import type { Client, Store } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { ENCRYPTED } from "../../client/support/encrypted_room.ts";
import type { ClientStage } from "../../client/support/stage.ts";
import { ALICE, device, type DeviceOptions, KEY } from "../identity/scene.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** Where the endpoints are. */
export const PATH = "/org.matrix.msc3814.v1/dehydrated_device";

/** What a bot is made with that has nothing but its recovery key, and no backup to read by. */
export const DEHYDRATED = { ...EVERYBODY, recoveryKey: KEY, backup: false, dehydratedDevice: true } as const;

/** A device of Alice that has a dehydrated device made, when it starts. */
export async function bot(here: ClientStage, deviceId: string, options: DeviceOptions = {}): Promise<Client> {
  const client = await device(here, deviceId, { encryption: DEHYDRATED, ...options });
  await client.crypto?.start();
  return client;
}

/** What a device says of its dehydrated device. */
export async function outcomeOf(client: Client): Promise<string | undefined> {
  return (await client.crypto?.ensureVerified())?.dehydratedDevice;
}

/** A friend, and an encrypted room that Alice is in. */
export async function friendOf(
  here: ClientStage,
  alice: Client,
  name = "friend",
): Promise<{ friend: Client; roomId: RoomID }> {
  const friend = here.client(name, { encryption: EVERYBODY });
  const roomId = await friend.createRoom({ preset: "public_chat", initialState: ENCRYPTED });
  await alice.joinRoom(roomId);
  return { friend, roomId };
}

/** Logs a device out, so that the server deletes it. */
export async function leave(client: Client): Promise<void> {
  await client.logout();
  await client.close();
}

/** Has someone say something, each with a key of its own, to the devices that there are now. */
export async function says(client: Client, roomId: RoomID, ...texts: readonly string[]): Promise<void> {
  await client.syncOnce();
  for (const text of texts) {
    await client.sendText(roomId, text);
    await client.crypto?.discardGroupSession(roomId);
  }
}

/** The dehydrated devices that the server shows of Alice. */
export async function dehydratedDevices(client: Client): Promise<string[]> {
  const { device_keys } = await client.queryKeys([ALICE]);
  const devices = Object.values(device_keys?.[ALICE] ?? {});
  return devices.filter(({ dehydrated }) => dehydrated === true).map(({ device_id }) => device_id);
}

/** Notes the requests about dehydrated devices, and may answer them. */
export function watched(
  here: ClientStage,
  answer: (request: Request) => Response | undefined | Promise<Response | undefined> = () => undefined,
): { fetch: typeof fetch; made: string[] } {
  const made: string[] = [];
  return {
    made,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const { pathname, search } = new URL(request.url);
      if (!pathname.includes(PATH)) return await here.homeserver.fetch(request);
      const isEvents = pathname.endsWith("/events");
      made.push(`${request.method}${isEvents ? ` events${search}` : ""}`);
      return await answer(request) ?? await here.homeserver.fetch(request);
    },
  };
}

/** An answer of a server that refuses. */
export function refusal(status: number, errcode: string): Response {
  return Response.json({ errcode, error: "No" }, { status });
}

/** The same request for pages of a few messages. */
export function inSmallPages(request: Request, limit: number): Request {
  const url = new URL(request.url);
  if (!url.pathname.endsWith("/events")) return request;
  url.searchParams.set("limit", String(limit));
  return new Request(url, request);
}

/** The stored records whose keys have this part. */
export async function records(store: Store, part: string): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { key, value } of store.list([])) if (key.includes(part)) found.push(value);
  return found;
}

/** A user whose only device has gone, and what a friend has sent since. */
export async function away(here: ClientStage, ...texts: readonly string[]) {
  const first = await bot(here, "FIRST");
  const { friend, roomId } = await friendOf(here, first);
  await leave(first);
  await says(friend, roomId, ...texts);
  return { friend, roomId };
}
