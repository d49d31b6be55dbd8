/**
 * Devices of one user, and what the server has of them.
 *
 * @module
 */

import { assert } from "@std/assert";
import { type Client, type ClientOptions, encryptionOf, type Store } from "@greenroom/matrix";
import { type MessageEvent, PaginationDirection, type RoomID } from "@greenroom/matrix/types";
import type { ClientStage } from "../../client/support/stage.ts";
import { recoveryKeyOf } from "../../crypto/secrets/recovery_keys.ts";

/** The user. */
export const ALICE = "@alice:localhost";

/** A recovery key that its owner has made. */
export const KEY = recoveryKeyOf(7);

/** Another one. */
export const OTHER_KEY = recoveryKeyOf(8);

/** What a device is made with. */
export interface DeviceOptions extends Partial<ClientOptions> {
  readonly encryption?: Exclude<ClientOptions["encryption"], boolean>;
  readonly store?: Store;
}

/** The access tokens of devices. */
const tokens = new WeakMap<ClientStage, Map<string, string>>();

/** The password of Alice. */
export const PASSWORD = "password of alice";

/** A client of a device of Alice. */
export async function device(
  here: ClientStage,
  deviceId: string,
  options: DeviceOptions = {},
): Promise<Client> {
  const known = tokens.getOrInsertComputed(here, () => new Map<string, string>());
  const token = known.get(deviceId) ?? await login(here, deviceId);
  known.set(deviceId, token);
  return here.client("alice", { accessToken: token, retry: false, encryption: {}, ...options });
}

async function login(here: ClientStage, deviceId: string): Promise<string> {
  const client = here.client("alice");
  const { access_token } = await client.login({ identifier: ALICE, password: PASSWORD, deviceId });
  return access_token;
}

/** What the server shows of Alice: her master key, and who beside itself has signed each device. */
export async function shown(
  client: Client,
): Promise<{ master: string | undefined; signers: Record<string, string[]> }> {
  const { master_keys, device_keys } = await client.queryKeys([ALICE]);
  const [master] = Object.values(master_keys?.[ALICE]?.keys ?? {});
  const devices = Object.entries(device_keys?.[ALICE] ?? {});
  const signers = devices.map(([deviceId, { signatures }]): [string, string[]] => [
    deviceId,
    Object.keys(signatures[ALICE] ?? {}).filter((name) => name !== `ed25519:${deviceId}`),
  ]);
  return { master, signers: Object.fromEntries(signers) };
}

/** The name of the self-signing key that the server shows. */
export async function selfSigning(client: Client): Promise<string> {
  const { self_signing_keys } = await client.queryKeys([ALICE]);
  return Object.keys(self_signing_keys?.[ALICE]?.keys ?? {})[0] ?? "none";
}

/** Notes the requests that change something, as `POST keys/upload`. */
export function changes(here: ClientStage): { fetch: typeof fetch; made: string[] } {
  const made: string[] = [];
  return {
    made,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const path = new URL(request.url).pathname.replace(/^\/_matrix\/client\/v3\//, "");
      const changes = request.method !== "GET" && !path.endsWith("/filter") && !path.startsWith("keys/query");
      if (changes) made.push(`${request.method} ${path}`);
      return await here.homeserver.fetch(request);
    },
  };
}

/** A server whose answers of a kind are changed. */
export function changed(
  here: ClientStage,
  path: string,
  change: (body: Record<string, unknown>) => void,
): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const response = await here.homeserver.fetch(request);
    if (request.method === "PUT" || !response.ok || !request.url.includes(path)) return response;
    const body = await response.json();
    change(body);
    return Response.json(body);
  };
}

/** What a device reads of the history of a room, the oldest first, and where the keys are from. */
export async function history(client: Client, roomId: RoomID): Promise<string[]> {
  const { chunk } = await client.getMessages(roomId, PaginationDirection.BACKWARD, undefined, { limit: 500 });
  const texts: string[] = [];
  for (const event of chunk) {
    if (event.type !== "m.room.encrypted") continue;
    const decryption = await client.crypto?.decrypt(event as MessageEvent);
    assert(decryption !== undefined);
    if (!("event" in decryption)) texts.push(decryption.code);
    else texts.push(`${decryption.event.content.body} by ${encryptionOf(decryption.event)?.keySource}`);
  }
  return texts.reverse();
}

/** Waits for what waits itself, for devices that start at the same time: lets time pass until it is done. */
export async function patiently<Work extends Promise<unknown> | undefined>(
  here: ClientStage,
  work: Work,
): Promise<Awaited<Work>> {
  let isDone = false;
  const done = () => void (isDone = true);
  work?.then(done, done);
  for (let rounds = 0; !isDone && rounds < 10_000; rounds++) await here.clock.tick(50);
  return await work;
}

/** A server on which something happens before the first upload of an identity arrives, or another request. */
export function before(
  here: ClientStage,
  happen: () => Promise<void>,
  path = "/keys/device_signing/upload",
): typeof fetch {
  let isDone = false;
  return async (input, init) => {
    const request = new Request(input, init);
    if (request.url.endsWith(path) && !isDone) {
      isDone = true;
      await happen();
    }
    return await here.homeserver.fetch(request);
  };
}
