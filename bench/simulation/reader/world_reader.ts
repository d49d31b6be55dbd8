/**
 * The reader in a simulated world: a member of all rooms, whose device has the keys of libolm.
 *
 * @module
 */

import type { RoomID } from "@greenroom/matrix/types";
import type { WorldHomeserver } from "../setback/restorable_homeserver.ts";
import type { Ask } from "../world/account.ts";
import type { Reading, Traffic } from "./libolm_reader.ts";
import { ReaderDevice } from "./reader_device.ts";
import keys from "./reader_keys.json" with { type: "json" };

/** What the reader is given, and what is in it according to the world. */
export interface ReadWorld {
  readonly traffic: Traffic;
  /** By event ID, the text of an encrypted message as its author or other devices have it. */
  readonly texts: Readonly<Record<string, string>>;
  /** The events that a hostile member has made, which are to be refused. */
  readonly forged: ReadonlySet<string>;
  /** The users of whose messages to the reader's device the server has refused some. */
  readonly refused: ReadonlySet<string>;
}

/** The reader's user and device. */
export class WorldReader {
  readonly #token: string;
  readonly #ask: Ask;
  readonly #device: ReaderDevice;
  readonly #refused = new Set<string>();

  private constructor(token: string, ask: Ask, device: ReaderDevice) {
    this.#token = token;
    this.#ask = ask;
    this.#device = device;
  }

  /** The reader's user ID. */
  static readonly userId = keys.device_keys.user_id;

  /** Registers the reader, and publishes the keys of its device. */
  static async register(homeserver: WorldHomeserver, ask: Ask, fetching: typeof fetch): Promise<WorldReader> {
    const { user_id, device_id } = keys.device_keys;
    const name = user_id.slice(1).replace(/:.*/, "");
    const { accessToken: token } = homeserver.createUser(name, { deviceId: device_id });
    const { baseUrl } = homeserver;
    return new WorldReader(token, ask, await ReaderDevice.publish({ baseUrl, fetch: fetching, token }, keys));
  }

  /** Joins a room. */
  async join(room: RoomID): Promise<void> {
    await this.#ask(this.#token, "POST", `v3/join/${encodeURIComponent(room)}`, {});
  }

  /** The users of whose messages to the reader's device the server has refused some. */
  get refused(): ReadonlySet<string> {
    return this.#refused;
  }

  /** Notes that the server has refused messages of a user, some of which may be for the reader. */
  noteRefused(userId: string, messages: string): void {
    if (messages.includes(keys.device_keys.device_id)) this.#refused.add(userId);
  }

  /** All that it was given. */
  async traffic(): Promise<Traffic> {
    return await this.#device.traffic();
  }
}

/** What the reader of a world was given; undefined: there is none. */
export async function readWorld({ reader, devices, forged, planted, hearsay }: {
  readonly reader: WorldReader | undefined;
  readonly forged: ReadonlySet<string>;
  readonly planted: ReadonlySet<string>;
  readonly hearsay: ReadonlyMap<string, unknown>;
  readonly devices: readonly { readonly readings: ReadonlyMap<string, string> }[];
}): Promise<ReadWorld | undefined> {
  if (reader === undefined) return undefined;
  const texts = Object.fromEntries(devices.flatMap(({ readings }) => [...readings]));
  const made = new Set([...forged, ...planted, ...hearsay.keys()]);
  return { traffic: await reader.traffic(), texts, forged: made, refused: reader.refused };
}

/**
 * What the reader has not read as it should have. Who could not send it a key, since the server lied,
 * has told it so.
 */
export function judgeTraffic(
  { traffic, texts, forged, refused }: ReadWorld,
  { decrypted, unreadable, problems }: Reading,
): string[] {
  const toDevice = traffic.to_device as { readonly type: string; readonly sender: string }[];
  const withholding = new Set(
    toDevice.filter(({ type }) => type === "m.room_key.withheld").map(({ sender }) => sender),
  );
  const isExcused = (problem: string): boolean => {
    const [, id = "", sender = ""] = /^(\S+) of (\S+): /.exec(problem) ?? [];
    return forged.has(id) || (withholding.has(sender) && problem.includes("UNKNOWN_MESSAGE_INDEX"));
  };
  const found = problems.filter((problem) => !isExcused(problem)).map((problem) =>
    `libolm refused ${problem}`
  );
  const events = traffic.events as { readonly event_id: string; readonly sender: string }[];
  for (const { event_id: id, sender } of events) {
    const text = texts[id];
    if (text === undefined) continue;
    if (unreadable.includes(id) && !withholding.has(sender) && !refused.has(sender)) {
      found.push(`libolm has no key for ${id} of ${sender}, "${text}"`);
    }
    const body = decrypted[id]?.content.body;
    if (body !== undefined && body !== text) found.push(`libolm read ${id} as "${body}", not as "${text}"`);
  }
  return found;
}
