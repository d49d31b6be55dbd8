/**
 * What a homeserver passes on to a running device, and how each comes to it.
 *
 * @module
 */

import { isJsonObject } from "../../src/types/json.ts";
import { OWN_USER } from "../peers/inputs/room_inputs.ts";
import { ABSENT } from "./changed_fields.ts";
import type { FuzzClock } from "./fuzz_clock.ts";
import { MEGOLM, type Senders } from "./senders.ts";
import type { FuzzServer } from "./server.ts";
import { ENCRYPTED_ROOM } from "./valid_responses.ts";

type Json = Record<string, unknown>;

const HOUR = 3_600_000;

/** One kind of what a server passes on. */
export interface FieldKind {
  readonly name: string;
  /** What is changed somewhere. */
  make(senders: Senders): Json;
  /** Puts it into a response, or has the server answer with it. */
  give(response: Json, changed: unknown, stage: Stage): void;
}

interface Stage {
  readonly server: FuzzServer;
  readonly clock: FuzzClock;
  readonly senders: Senders;
}

const KEY = "A".repeat(43);
const session = { algorithm: MEGOLM, room_id: ENCRYPTED_ROOM, session_id: KEY, sender_key: KEY };
const asking = { action: "request", requesting_device_id: "DEVICE1", request_id: "r1" };
const flow = { from_device: "DEVICE1", transaction_id: "t1" };
const signed = { signatures: { [OWN_USER]: { "ed25519:BENCH": KEY } } };
const sealedSecret = { encrypted: { [KEY]: { iv: KEY, ciphertext: KEY, mac: KEY } } };

const CLEAR: Record<string, Json> = {
  "m.room_key_request": { ...asking, body: session },
  "m.room_key.withheld": { ...session, code: "m.unverified", reason: "no" },
  "m.secret.request": { ...asking, name: "m.megolm_backup.v1" },
  "m.secret.send": { request_id: "r1", secret: KEY },
  "m.room_key": { ...session, session_key: KEY },
  "m.room.encrypted": {
    algorithm: "m.olm.v1.curve25519-aes-sha2",
    sender_key: KEY,
    ciphertext: { [KEY]: { type: 0, body: KEY } },
  },
  "m.key.verification.request": { ...flow, methods: ["m.sas.v1"], timestamp: 1_790_000_000_000 },
  "m.key.verification.ready": { ...flow, methods: ["m.sas.v1"] },
  "m.key.verification.start": {
    ...flow,
    method: "m.sas.v1",
    key_agreement_protocols: ["curve25519-hkdf-sha256"],
    hashes: ["sha256"],
    message_authentication_codes: ["hkdf-hmac-sha256.v2"],
    short_authentication_string: ["decimal"],
  },
  "m.key.verification.accept": { ...flow, commitment: KEY, hash: "sha256", method: "m.sas.v1" },
  "m.key.verification.key": { ...flow, key: KEY },
  "m.key.verification.mac": { ...flow, keys: KEY, mac: { "ed25519:DEVICE1": KEY } },
  "m.key.verification.done": flow,
  "m.key.verification.cancel": { ...flow, code: "m.user", reason: "no" },
  "m.dummy": {},
};

const SEALED: Record<string, (senders: Senders) => Json> = {
  "m.room_key": (senders) => senders.roomKey(alice(senders), ENCRYPTED_ROOM),
  "m.forwarded_room_key": (senders) => senders.forwardedKey(alice(senders), ENCRYPTED_ROOM),
  "m.room_key.withheld": () => ({ ...session, code: "m.unverified", reason: "no" }),
  "m.secret.send": () => ({ request_id: "r1", secret: KEY }),
  "m.key.verification.request": () => CLEAR["m.key.verification.request"] ?? {},
  "io.element.msc4268.room_key_bundle": () => ({
    room_id: ENCRYPTED_ROOM,
    file: { v: "v2", url: "mxc://a/b", iv: KEY, hashes: { sha256: KEY }, key: { k: KEY, alg: "A256CTR" } },
  }),
  "m.dummy": () => ({}),
};

const ACCOUNT_DATA: Record<string, Json> = {
  "m.direct": { "@alice:example.org": [ENCRYPTED_ROOM] },
  "m.ignored_user_list": { ignored_users: { "@ignored:example.org": {} } },
  "m.push_rules": {
    global: {
      override: [{ rule_id: ".m.rule.master", default: true, enabled: false, actions: [], conditions: [] }],
    },
  },
  "m.secret_storage.default_key": { key: KEY },
  [`m.secret_storage.key.${KEY}`]: { algorithm: "m.secret_storage.v1.aes-hmac-sha2", iv: KEY, mac: KEY },
  "m.cross_signing.master": sealedSecret,
  "m.cross_signing.self_signing": sealedSecret,
  "m.cross_signing.user_signing": sealedSecret,
  "m.megolm_backup.v1": sealedSecret,
  "org.matrix.msc3814": sealedSecret,
  "m.key_backup": { enabled: true },
  "m.identity_server": { base_url: null },
  "m.invite_permission_config": { default_action: "block" },
  "m.fully_read": { event_id: "$plain0" },
  "m.tag": { tags: { "u.work": { order: 0.5 } } },
};

function alice({ people }: Senders): Senders["people"][number] {
  const [first] = people;
  if (first === undefined) throw new Error("Cannot send: there is nobody");
  return first;
}

function addToDevice(response: Json, event: unknown): void {
  const section = response.to_device as { events: unknown[] };
  section.events.unshift(event);
}

function addAccountData(response: Json, event: unknown): void {
  const section = response.account_data as { events: unknown[] };
  section.events.unshift(event);
}

/** Has the client ask for the keys of a user whose answer is changed. */
function answerWith(path: string) {
  return (response: Json, changed: unknown, { server, senders, clock }: Stage): void => {
    const { userId } = alice(senders);
    response.device_lists = { changed: [userId], left: [] };
    clock.advance(HOUR); // a broken session is mended once an hour
    addToDevice(response, {
      type: "m.room.encrypted",
      sender: userId,
      content: {
        algorithm: "m.olm.v1.curve25519-aes-sha2",
        sender_key: alice(senders).account.curve25519Key,
        ciphertext: { [senders.keys.recipient.curve25519]: { type: 1, body: "AwogUnreadable" } },
      },
    });
    server.alter = (asked, answer) => {
      if (asked !== path || JSON.stringify(answer).includes(`"${OWN_USER}"`)) return answer;
      return changed === ABSENT ? {} : changed;
    };
  };
}

/** All kinds. */
export const KINDS: readonly FieldKind[] = [
  ...Object.entries(CLEAR).map(([type, content]): FieldKind => ({
    name: `to-device ${type}`,
    make: () => ({ type, sender: "@alice:example.org", content }),
    give: addToDevice,
  })),
  ...Object.entries(SEALED).map(([type, content]): FieldKind => ({
    name: `encrypted ${type}`,
    make: (senders) => {
      const from = alice(senders);
      return {
        type,
        content: content(senders),
        sender: from.userId,
        sender_device: from.deviceId,
        keys: { ed25519: from.account.ed25519Key },
        recipient: OWN_USER,
        recipient_keys: { ed25519: senders.keys.recipient.ed25519 },
        sender_device_keys: from.deviceKeys,
      };
    },
    give: (response, changed, { senders }) => {
      const members = isJsonObject(changed) ? changed : {};
      const { type, content, ...rest } = members as Json;
      addToDevice(response, senders.olm(alice(senders), type as string, content, rest));
    },
  })),
  ...Object.entries(ACCOUNT_DATA).map(([type, content]): FieldKind => ({
    name: `account data ${type}`,
    make: () => ({ type, content }),
    give: addAccountData,
  })),
  {
    name: "device lists",
    make: () => ({ changed: ["@alice:example.org"], left: ["@gone:example.org"] }),
    give: (response, changed) => {
      // A response whose sections are no objects is refused as a whole, and asked for again.
      if (isJsonObject(changed)) response.device_lists = changed;
    },
  },
  {
    name: "messages to the device",
    make: () => ({ events: [{ type: "m.dummy", sender: "@alice:example.org", content: {} }] }),
    give: (response, changed) => {
      const { events } = isJsonObject(changed) ? changed : {};
      if (Array.isArray(events)) addToDevice(response, events[0]);
    },
  },
  {
    name: "keys/query",
    make: (senders) => {
      const { userId, deviceId, deviceKeys } = alice(senders);
      const key = (usage: string) => ({
        user_id: userId,
        usage: [usage],
        keys: { [`ed25519:${KEY}`]: KEY },
        ...signed,
      });
      return {
        device_keys: { [userId]: { [deviceId]: deviceKeys } },
        master_keys: { [userId]: key("master") },
        self_signing_keys: { [userId]: key("self_signing") },
        failures: {},
      };
    },
    give: answerWith("/keys/query"),
  },
  {
    name: "keys/claim",
    make: (senders) => {
      const { userId, deviceId, oneTimeKey } = alice(senders);
      return { one_time_keys: { [userId]: { [deviceId]: oneTimeKey } }, failures: {} };
    },
    give: answerWith("/keys/claim"),
  },
];
