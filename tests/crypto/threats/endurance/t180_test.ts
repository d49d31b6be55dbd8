/**
 * A homeserver makes up users, devices, rooms, sessions and requests, others each time:
 * what a client remembers of each is to fill its memory.
 *
 * What must hold: after thousands of names no map, set or list has more entries than after the
 * first thousand. The state of a room is as large as its server says, and a record stays of each
 * room; caches have a limit of their own.
 *
 * The class of mistake: a map has an entry for each name that was heard, and nothing removes it.
 */

import { assert, assertEquals } from "@std/assert";
import { abortable } from "@std/async/abortable";
import { Client, MemoryStore } from "@greenroom/matrix";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { FuzzClock } from "../../../../bench/fuzz/fuzz_clock.ts";
import { MEGOLM, Senders } from "../../../../bench/fuzz/senders.ts";
import { OWN_USER } from "../../../../bench/peers/inputs/room_inputs.ts";
import { EVERYBODY } from "../../../support/everybody.ts";
import { grownBy } from "../../../support/growth.ts";

type Json = Record<string, unknown>;

const ROOM = "!room:example.org";
/** In which messages in clear are heard. */
const PLAIN = "!plain:example.org";
/** How many names are made up before it counts, and how many then; so many come in a response. */
const [WARM, TIMES, TOGETHER] = [1_500, 1_500, 10];
/** Entries of the store, of caches and of indexes, each of which has a limit, and the room's own state. */
const BOUNDED = /Node \{|\bolder:|values: \[Map\]|\$create0/;
const DAY = 86_400_000;

const userOf = (number: number) => `@user${number}:example.org`;

/** What is said to the device in the name of a user whom there is not. */
function toDevice(number: number, ownKey: string): Json[] {
  const [device, key] = [`DEVICE${number}`, `${number}`.padStart(43, "A")];
  const session = { room_id: ROOM, session_id: key, sender_key: key, algorithm: MEGOLM };
  const requested = { action: "request", requesting_device_id: device, request_id: `${number}` };
  const flow = (name: string) => ({ from_device: device, transaction_id: `${name}${number}` });
  const each: [string, Json][] = [
    ["m.room_key_request", { ...requested, body: session }],
    ["m.room_key_request", {
      ...requested,
      action: "request_cancellation",
      request_id: `other ${number}`,
    }],
    ["m.room_key.withheld", { ...session, code: "m.unverified", reason: "no" }],
    ["m.room_key.withheld", { sender_key: key, algorithm: MEGOLM, code: "m.no_olm" }],
    ["m.secret.request", { ...requested, name: "m.megolm_backup.v1" }],
    ["m.secret.send", { request_id: `${number}`, secret: "x" }],
    ["m.key.verification.request", { ...flow("asked"), methods: ["m.sas.v1"], timestamp: 1.7e12 }],
    ["m.key.verification.start", {
      ...flow("started"),
      method: "m.sas.v1",
      key_agreement_protocols: ["curve25519-hkdf-sha256"],
      hashes: ["sha256"],
      message_authentication_codes: ["hkdf-hmac-sha256.v2"],
      short_authentication_string: ["decimal"],
    }],
    ["m.key.verification.cancel", { ...flow("cancelled"), code: "m.user", reason: "no" }],
    ["m.room.encrypted", {
      algorithm: "m.olm.v1.curve25519-aes-sha2",
      sender_key: key,
      ciphertext: { [ownKey]: { type: number % 2, body: "AwogUnreadable" } },
    }],
    [`org.example.type${number}`, { number }],
  ];
  return each.map(([type, content]) => ({ type, sender: userOf(number), content }));
}

function event(number: number, id: string, rest: Json): Json {
  return { event_id: `$${id}${number}`, sender: userOf(number), origin_server_ts: 1.7e12 + number, ...rest };
}

function member(number: number, membership: string, userId = userOf(number)): Json {
  const type = "m.room.member";
  return event(number, membership, { type, state_key: userId, sender: userId, content: { membership } });
}

/** What such a user does in a room that stays. */
function timeline(number: number): Json[] {
  const id = `$message${number}`;
  const session_id = `${number}`.padStart(43, "A");
  const device = { sender_key: session_id, device_id: `DEVICE${number}`, session_id };
  const asking = {
    msgtype: "m.key.verification.request",
    from_device: "D",
    methods: ["m.sas.v1"],
    to: OWN_USER,
  };
  const each: [string, Json][] = [
    ["m.room.encrypted", { ...device, algorithm: MEGOLM, ciphertext: "AwgAEg" }],
    ["m.room.message", { msgtype: "m.text", body: `${number}` }],
    ["m.reaction", { "m.relates_to": { rel_type: "m.annotation", event_id: id, key: "x" } }],
    ["m.room.message", { ...asking, body: "asks" }],
    ["m.room.redaction", { redacts: `$2 of ${number}` }],
    [`org.example.type${number}`, {}],
  ];
  const events = each.map(([type, content], index) =>
    event(number, index === 1 ? "message" : `${index} of `, { type, content })
  );
  return [member(number, "join"), ...events, member(number, "leave")];
}

/** A response with names that no other has; those of the last one leave. */
function responseWith(from: number, senders: Senders): Json {
  const numbers = Array.from({ length: TOGETHER }, (_, index) => from + index);
  const ownKey = senders.isPublished ? senders.keys.recipient.curve25519 : "";
  const rooms = (kind: string, room: (number: number) => Json, back = 0) =>
    Object.fromEntries(
      numbers.map((number) => [`!${kind}${number - back}:example.org`, room(number)]),
    );
  const leaving = (number: number) => ({ timeline: { events: [member(number, "leave", OWN_USER)] } });
  const own = (membership: string) => (number: number) => ({
    events: [member(number, membership, OWN_USER)],
  });
  const read = { "m.read": { [userOf(from)]: { ts: 1 } } };
  return {
    device_one_time_keys_count: { signed_curve25519: senders.keyCount },
    device_unused_fallback_key_types: ["signed_curve25519"],
    device_lists: { changed: numbers.map(userOf), left: numbers.map((number) => userOf(number - TOGETHER)) },
    to_device: { events: numbers.flatMap((number) => toDevice(number, ownKey)) },
    account_data: {
      events: [
        ...numbers.map((number) => ({ type: `org.example.data${number}`, content: { number } })),
        { type: "m.direct", content: { [userOf(from)]: [`!direct${from}:example.org`] } },
        { type: "m.ignored_user_list", content: { ignored_users: { [userOf(from)]: {} } } },
      ],
    },
    presence: {
      events: numbers.map((number) => ({
        type: "m.presence",
        sender: userOf(number),
        content: { presence: "online" },
      })),
    },
    rooms: {
      join: {
        [ROOM]: {
          timeline: { events: numbers.flatMap(timeline), limited: false, prev_batch: `p${from}` },
          ephemeral: {
            events: [
              {
                type: "m.receipt",
                content: Object.fromEntries(numbers.map((number) => [`$message${number}`, read])),
              },
              { type: "m.typing", content: { user_ids: numbers.map(userOf) } },
            ],
          },
          account_data: { events: [{ type: "m.fully_read", content: { event_id: `$message${from}` } }] },
        },
        [PLAIN]: { timeline: { events: numbers.flatMap(timeline), limited: false, prev_batch: `p${from}` } },
        ...rooms("joined", (number) => ({
          timeline: { ...own("join")(number), limited: number % 3 === 0, prev_batch: "x" },
        })),
      },
      invite: rooms("invited", (number) => ({ invite_state: own("invite")(number) })),
      knock: rooms("knocked", (number) => ({ knock_state: own("knock")(number) })),
      leave: {
        ...rooms("left", leaving),
        ...rooms("joined", leaving, TOGETHER),
        ...rooms("invited", leaving, TOGETHER),
        ...rooms("knocked", leaving, TOGETHER),
      },
    },
  };
}

const STATE = [
  event(0, "create", { type: "m.room.create", state_key: "", content: { room_version: "11" } }),
  event(0, "encryption", { type: "m.room.encryption", state_key: "", content: { algorithm: MEGOLM } }),
  member(0, "join", OWN_USER),
  member(1, "join", "@alice:example.org"),
];
const FIRST = {
  [ROOM]: { state: { events: STATE }, timeline: { events: [] } },
  [PLAIN]: {
    state: { events: STATE.filter(({ type }) => type !== "m.room.encryption") },
    timeline: { events: [] },
  },
};

Deno.test("T180: what a client remembers does not grow with the names that its homeserver makes up", async () => {
  const vodozemac = await Vodozemac.load();
  using senders = new Senders(vodozemac, Senders.people(vodozemac));
  const clock = new FuzzClock(1_700_000_000_000);
  let [shown, wanted, sent, handled] = [0, 0, 0, 0];
  let more = Promise.withResolvers<void>();
  const sync = async (since: string | null, signal: AbortSignal): Promise<Json> => {
    if (since === null) return { next_batch: "s0", rooms: { join: FIRST } };
    while (shown >= wanted) await abortable(more.promise, signal);
    shown += TOGETHER;
    return { next_batch: `s${shown}`, ...responseWith(shown, senders) };
  };
  const answer = async (request: Request): Promise<object | undefined> => {
    const { pathname: path, searchParams } = new URL(request.url);
    if (path.endsWith("/sync")) return await sync(searchParams.get("since"), request.signal);
    if (path.endsWith("/whoami")) return { user_id: OWN_USER, device_id: "BENCH" };
    if (path.endsWith("/versions")) return { versions: ["v1.16"] };
    if (path.endsWith("/filter")) return { filter_id: "1" };
    if (path.endsWith("/keys/upload")) return senders.upload(await request.json());
    if (path.endsWith("/keys/query")) return senders.keys.query(await request.json());
    if (path.endsWith("/keys/claim")) return senders.keys.claim(await request.json());
    if (path.includes("/sendToDevice/")) return {};
    if (path.includes("/send/")) return { event_id: `$sent${++sent}` };
    if (path.endsWith("/members")) return { chunk: STATE.slice(2) };
    if (path.endsWith("/messages")) return { chunk: [], start: "x" };
    return undefined;
  };
  await using client = new Client({
    baseUrl: "https://example.org",
    accessToken: "token",
    fetch: async (input, init) => {
      const answered = await answer(new Request(input, init));
      if (answered !== undefined) return Response.json(answered);
      return Response.json({ errcode: "M_NOT_FOUND", error: "There is none" }, { status: 404 });
    },
    clock,
    store: new MemoryStore(),
    encryption: EVERYBODY,
    log: { debug() {}, info() {}, warn() {}, error() {} },
  });
  client.on("m.room.message", () => void handled++);
  client.on("m.room.encrypted", () => {});
  client.on("INVITE", () => {});
  client.on(() => {});
  client.start();
  const leap = async (ms: number) => {
    clock.advance(ms);
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setTimeout(resolve));
  };
  const show = async (count: number) => {
    wanted += count;
    more.resolve();
    more = Promise.withResolvers();
    while (shown < wanted) await leap(1_000);
  };
  const makeUp = async (count: number) => {
    for (let left = count; left > 0; left -= 250) {
      await show(Math.min(left, 250));
      await client.sendText(ROOM, "hello");
    }
    for (let day = 0; day < 16; day++) await leap(DAY);
    await show(TOGETHER); // which has it look what is too old
    for (let minute = 0; minute < 10; minute++) await leap(60_000);
  };
  await makeUp(WARM);
  const grown = await grownBy(() => makeUp(TIMES), TIMES / 5);
  assertEquals(grown.filter(({ sample }) => !BOUNDED.test(sample)), []);
  assert(handled > WARM + TIMES, `${handled} messages handled`);
  assert(sent === (WARM + TIMES) / 250, `${sent} messages sent`);
});
