/**
 * A homeserver for whole engines: keeps keys, and what is on its way to each device, where tests
 * can get at it.
 */

import type { BackupRequest } from "../../../src/crypto/backup/backup.ts";
import type { EngineRequest } from "../../../src/crypto/engine/engine.ts";
import type { RequestFailure } from "../../../src/crypto/requests/requests.ts";
import { TestClock } from "@greenroom/matrix/testing";
import {
  type DeviceKeys,
  type EventID,
  type JsonObject,
  type KeysUploadRequest,
  type MessageEvent,
  type RoomID,
  type StateEvent,
  SyncStream,
  type ToDeviceEvent,
  type UserID,
} from "@greenroom/matrix/types";
import { type FakeUser, queryResponse, sign } from "../support/fake_user.ts";

/** The room of all tests. */
export const ROOM: RoomID = "!room:example.org";
/** Its encryption. */
export const ENCRYPTION = { algorithm: "m.megolm.v1.aes-sha2" };

/** A request that the server refuses. */
export class Refusal extends Error {
  readonly failure: RequestFailure;

  constructor(status: number, errcode?: string) {
    super(`Refused: ${status} ${errcode}`);
    this.failure = { status, errcode, message: this.message };
  }
}

/** What waits for a device. */
export interface Mailbox {
  readonly toDevice: ToDeviceEvent[];
  readonly state: StateEvent[];
  readonly encrypted: MessageEvent[];
  readonly changed: Set<UserID>;
}

/** The device that a mailbox is for. */
export interface Address {
  readonly userId: UserID;
  readonly deviceId: string;
}

/** Passes on what it is given, in order and once, unless a test interferes with the mailboxes. */
export class EngineServer {
  readonly clock = new TestClock(1_700_000_000_000);
  readonly keys = new Map<UserID, Map<string, DeviceKeys>>();
  /**
   * Users who have cross-signing keys, by which they vouch for all devices but their `unsigned`
   * ones.
   */
  readonly identities = new Map<UserID, FakeUser>();
  /** From whom each message to a device that is on its way came, and in which turn. */
  readonly origins = new WeakMap<ToDeviceEvent, { readonly from: Address; readonly turn: number }>();
  /** The turn that messages to devices are noted with; tests count it. */
  turn = 0;
  /** Called with each new encrypted event. */
  onEvent: (event: MessageEvent) => void = () => {};
  /** Answers a request about the backup of room keys. */
  onBackup: (from: Address, request: BackupRequest) => JsonObject = () => {
    throw new Refusal(404, "M_NOT_FOUND");
  };
  /** Answers a request for a file of room keys, which arrives decrypted. */
  onBundle: (url: string) => JsonObject = () => {
    throw new Refusal(404, "M_NOT_FOUND");
  };
  /** Users who are in the room. */
  readonly members = new Set<UserID>();
  readonly #oneTimeKeys = new Map<string, [name: string, key: unknown][]>();
  readonly #fallbackKeys = new Map<string, [name: string, key: unknown]>();
  readonly #mailboxes = new Map<string, Mailbox & Address>();
  readonly #sent = new Map<string, EventID>();
  /** Signatures of master keys that were uploaded. */
  readonly #mastersSigned = new Map<string, JsonObject>();
  #events = 0;

  /** What waits for a device. */
  mailbox({ userId, deviceId }: Address): Mailbox {
    return this.#mailboxes.getOrInsertComputed(JSON.stringify([userId, deviceId]), () => ({
      userId,
      deviceId,
      toDevice: [],
      state: [],
      encrypted: [],
      changed: new Set(),
    }));
  }

  /** How many one-time keys of a device are left. */
  oneTimeKeys(device: Address): number {
    return this.#oneTimeKeys.get(nameOf(device))?.length ?? 0;
  }

  /** Answers a request of an engine, or throws a {@link Refusal}. */
  answer(from: Address, request: EngineRequest): JsonObject {
    switch (request.kind) {
      case "keysUpload":
        return this.#upload(from, request.body);
      case "signaturesUpload":
        for (const [deviceId, keys] of Object.entries(request.signatures[from.userId] ?? {})) {
          if ("device_id" in keys) this.keys.get(from.userId)?.set(deviceId, keys);
        }
        for (const [userId, objects] of Object.entries(request.signatures)) {
          for (const [name, { signatures = {} }] of Object.entries(objects)) {
            this.#mastersSigned.set(nameOf({ userId, deviceId: name }), signatures);
          }
        }
        return { failures: {} };
      case "keysQuery":
        return {
          ...this.#identitiesOf(request.users),
          device_keys: Object.fromEntries(request.users.map((user) => [user, this.#shown(user)])),
        };
      case "keysClaim":
        return { one_time_keys: this.#claim(request.oneTimeKeys) };
      case "backupUpload":
      case "backupVersion":
      case "backupDownload":
        return this.onBackup(from, request);
      case "historyBundle":
        return this.onBundle(request.file.url);
      case "toDevice":
        this.#pass(from, request);
        return {};
      case "roomEvent":
        return { event_id: this.publish(from, request.content, request.txnId).event_id };
    }
  }

  /**
   * Puts an encrypted event into the room. A second one under the same transaction ID is the same.
   */
  publish(from: Address, content: JsonObject, txnId: string): MessageEvent {
    const name = JSON.stringify([from.userId, from.deviceId, txnId]);
    const known = this.#sent.get(name);
    const event_id: EventID = known ?? `$event${++this.#events}`;
    const event: MessageEvent = {
      type: "m.room.encrypted",
      content,
      sender: from.userId,
      room_id: ROOM,
      event_id,
      origin_server_ts: this.clock.now(),
      source: SyncStream.TIMELINE,
    };
    if (known === undefined) {
      this.#sent.set(name, event_id);
      this.onEvent(event);
      for (const mailbox of this.#mailboxes.values()) mailbox.encrypted.push(structuredClone(event));
    }
    return event;
  }

  /**
   * Shows a device no more, or again, or nothing but tells that something about the user has
   * changed.
   */
  show({ userId, deviceId }: Address, keys: DeviceKeys | "hidden" | "as it is" = "as it is"): void {
    const devices = this.keys.getOrInsertComputed(userId, () => new Map<string, DeviceKeys>());
    if (keys === "hidden") devices.delete(deviceId);
    else if (keys !== "as it is") devices.set(deviceId, keys);
    for (const mailbox of this.#mailboxes.values()) mailbox.changed.add(userId);
  }

  /** Says that a user comes or goes. */
  member(userId: UserID, membership: "join" | "leave"): void {
    if (membership === "join") this.members.add(userId);
    else this.members.delete(userId);
    const event = stateEvent("m.room.member", { membership }, userId);
    for (const mailbox of this.#mailboxes.values()) {
      mailbox.state.push(event);
      mailbox.changed.add(userId);
    }
  }

  #upload(from: Address, body: KeysUploadRequest): JsonObject {
    const { device_keys, one_time_keys = {}, fallback_keys = {} } = body;
    if (device_keys !== undefined) {
      const devices = this.keys.getOrInsertComputed(from.userId, () => new Map<string, DeviceKeys>());
      devices.set(from.deviceId, device_keys);
      for (const mailbox of this.#mailboxes.values()) mailbox.changed.add(from.userId);
    }
    const keys = this.#oneTimeKeys.getOrInsertComputed(nameOf(from), () => []);
    keys.push(...Object.entries(one_time_keys));
    for (const fallback of Object.entries(fallback_keys)) this.#fallbackKeys.set(nameOf(from), fallback);
    return { one_time_key_counts: { signed_curve25519: keys.length } };
  }

  /** The identities of users, with what others have signed of them. */
  #identitiesOf(users: readonly UserID[]): ReturnType<typeof queryResponse> {
    const response = queryResponse(...users.flatMap((user) => this.identities.get(user) ?? []));
    for (const [userId, key] of Object.entries(response.master_keys)) {
      const name = this.identities.get(userId as UserID)?.master?.publicKey ?? "";
      const signatures = { ...key.signatures as Record<string, JsonObject> };
      const more = this.#mastersSigned.get(nameOf({ userId, deviceId: name })) ?? {};
      for (const [by, made] of Object.entries(more)) {
        signatures[by] = { ...signatures[by], ...made as JsonObject };
      }
      if (Object.keys(more).length > 0) response.master_keys[userId] = { ...key, signatures };
    }
    return response;
  }

  #shown(userId: UserID): JsonObject {
    const { selfSigning: key, unsigned } = this.identities.get(userId) ?? {};
    return Object.fromEntries(
      [...this.keys.get(userId) ?? []].map(([deviceId, keys]) => {
        if (key === undefined || unsigned?.has(deviceId)) return [deviceId, { ...keys }];
        return [deviceId, sign({ ...keys }, { userId, keyId: `ed25519:${key.publicKey}`, key })];
      }),
    );
  }

  #claim(asked: Readonly<Record<string, Readonly<Record<string, string>>>>): JsonObject {
    const claimed = (userId: string, deviceId: string) => {
      const name = nameOf({ userId, deviceId });
      const key = this.#oneTimeKeys.get(name)?.shift() ?? this.#fallbackKeys.get(name);
      return [deviceId, key === undefined ? {} : Object.fromEntries([key])];
    };
    return Object.fromEntries(
      Object.entries(asked).map(([userId, devices]) => [
        userId,
        Object.fromEntries(Object.keys(devices).map((deviceId) => claimed(userId, deviceId))),
      ]),
    );
  }

  #pass(from: Address, { eventType, messages, txnId }: Extract<EngineRequest, { kind: "toDevice" }>): void {
    const name = JSON.stringify([from.userId, from.deviceId, txnId]);
    if (this.#sent.has(name)) return;
    this.#sent.set(name, "$");
    for (const [userId, contents] of Object.entries(messages)) {
      for (const [deviceId, content] of Object.entries(contents)) {
        const address = { userId: userId as UserID, deviceId }; // it came as one
        const event = structuredClone({
          type: eventType,
          sender: from.userId,
          content,
          source: SyncStream.TO_DEVICE,
        });
        this.origins.set(event, { from, turn: this.turn });
        this.mailbox(address).toDevice.push(event);
      }
    }
  }
}

/** A state event of the room. */
export function stateEvent(type: string, content: JsonObject, stateKey = ""): StateEvent {
  return {
    type,
    content,
    state_key: stateKey,
    sender: "@admin:example.org",
    room_id: ROOM,
    event_id: "$state",
    origin_server_ts: 0,
    source: SyncStream.TIMELINE,
  };
}

function nameOf({ userId, deviceId }: { readonly userId: string; readonly deviceId: string }): string {
  return JSON.stringify([userId, deviceId]);
}
