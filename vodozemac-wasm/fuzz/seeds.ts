/** Valid input for every operation: what the fuzzer starts from. */

import { decodeBase64 } from "../src/binary.ts";
import type { Engine } from "../src/engine.ts";
import type { Operation } from "../src/operations.ts";

/** What kind of object an operation works on, by the prefix of its name. */
export type Kind =
  | "account"
  | "session"
  | "outbound"
  | "inbound"
  | "signing_key"
  | "agreement_key"
  | "sas"
  | "established_sas"
  | "pk_decryption"
  | "ecies"
  | "ecies_channel"
  | "hpke_recipient"
  | "hpke_recipient_half"
  | "hpke_sender_half"
  | "hpke_channel";

/** The kind of object that an operation leaves behind. */
export const CREATES: Partial<Record<Operation, Kind>> = {
  account_clone: "account",
  account_create_inbound_session: "session",
  account_create_outbound_session: "session",
  account_from_libolm: "account",
  account_from_state: "account",
  account_new: "account",
  account_rehydrate: "account",
  agreement_key_new: "agreement_key",
  ecies_establish_inbound: "ecies_channel",
  ecies_establish_outbound: "ecies_channel",
  ecies_new: "ecies",
  hpke_recipient_establish: "hpke_recipient_half",
  hpke_recipient_new: "hpke_recipient",
  hpke_recipient_respond: "hpke_channel",
  hpke_sender_complete: "hpke_channel",
  hpke_sender_establish: "hpke_sender_half",
  inbound_clone: "inbound",
  inbound_from_libolm: "inbound",
  inbound_from_state: "inbound",
  inbound_import: "inbound",
  inbound_merge: "inbound",
  inbound_new: "inbound",
  outbound_clone: "outbound",
  outbound_from_libolm: "outbound",
  outbound_from_state: "outbound",
  outbound_new: "outbound",
  pk_decryption_from_libolm: "pk_decryption",
  pk_decryption_new: "pk_decryption",
  sas_establish: "established_sas",
  sas_new: "sas",
  session_clone: "session",
  session_from_libolm: "session",
  session_from_state: "session",
  signing_key_new: "signing_key",
};

/** The operations that use up the object they work on. */
export const CONSUMES: ReadonlySet<Operation> = new Set<Operation>([
  "sas_establish",
  "ecies_establish_inbound",
  "ecies_establish_outbound",
  "hpke_recipient_establish",
  "hpke_recipient_respond",
  "hpke_sender_complete",
]);

/** The kind of object that an operation works on, if any. */
export function worksOn(operation: Operation): Kind | undefined {
  const explicit: Partial<Record<Operation, Kind | undefined>> = {
    ecies_decrypt: "ecies_channel",
    ecies_encrypt: "ecies_channel",
    ed25519_check: undefined,
    ed25519_verify: undefined,
    hpke_open: "hpke_channel",
    hpke_recipient_establish: "hpke_recipient",
    hpke_recipient_respond: "hpke_recipient_half",
    hpke_seal: "hpke_channel",
    hpke_sender_complete: "hpke_sender_half",
    hpke_sender_establish: undefined,
    megolm_message_index: undefined,
    pk_decrypt: "pk_decryption",
    pk_encrypt: undefined,
    pre_key_message_keys: undefined,
    sas_establish: "sas",
  };
  if (operation in explicit) return explicit[operation];
  const creates = /_(new|import|from_\w+|rehydrate)$/.test(operation);
  if (creates) return undefined;
  if (operation.startsWith("sas_")) return "established_sas";
  return ([
    "account",
    "session",
    "outbound",
    "inbound",
    "signing_key",
    "agreement_key",
    "pk_decryption",
    "ecies",
  ] as const)
    .find((kind) => operation.startsWith(kind + "_"));
}

const utf8 = new TextEncoder();

function join(...parts: (Uint8Array | string)[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...typeof part === "string" ? utf8.encode(part) : part]));
}

function prefixed(part: Uint8Array | string): Uint8Array {
  const bytes = join(part);
  return join(Uint8Array.of(bytes.length, bytes.length >> 8, bytes.length >> 16, 0), bytes);
}

/** Input as valid as it gets, some of it for the objects that are made on the way. */
export type Seeds = Map<Operation, Uint8Array[]>;

/** Plays a scene through every operation, and keeps what went in and which objects came out. */
export function play(engine: Engine, objects: Map<Kind, number[]>, seeds: Seeds): void {
  const run = (operation: Operation, handle: number, input: Uint8Array = new Uint8Array(), number = 0) => {
    seeds.set(operation, [...seeds.get(operation) ?? [], input]);
    const status = engine.call(operation, handle, [input], number);
    const kind = CREATES[operation];
    if (kind !== undefined && status > 0) objects.set(kind, [...objects.get(kind) ?? [], status]);
    return { status, answer: engine.bytes() };
  };
  const [alice, bob] = [run("account_new", 0), run("account_new", 0)];
  const keys = run("account_generate_one_time_keys", bob.status, undefined, 3).answer.subarray(4);
  run("account_generate_fallback_key", bob.status);
  for (
    const operation of [
      "account_one_time_keys",
      "account_fallback_key",
      "account_mark_keys_as_published",
    ] as const
  ) {
    run(operation, bob.status);
  }
  const device = run("account_dehydrate", bob.status, new Uint8Array(32)).answer;
  run(
    "account_rehydrate",
    0,
    join(new Uint8Array(32), device.subarray(0, device.length - 20), device.slice(-16)),
  );
  const toBob = run(
    "account_create_outbound_session",
    alice.status,
    join(bob.answer.subarray(32), keys.subarray(0, 32)),
  );
  const opening = run("session_encrypt", toBob.status, utf8.encode("hello")).answer;
  run("pre_key_message_keys", 0, opening);
  const toAlice = run("account_create_inbound_session", bob.status, join(alice.answer.subarray(32), opening));
  const reply = run("session_encrypt", toAlice.status, utf8.encode("reply")).answer;
  run("session_decrypt", toBob.status, reply, 1);
  const batch = [1, 2].map(() => run("session_encrypt", toBob.status, utf8.encode("batch")).answer)
    .map((body) => join(Uint8Array.of(1, 0, 0, 0), prefixed(body)));
  run("session_decrypt_all", toAlice.status, join(...batch));
  run("account_sign", alice.status, utf8.encode("text"));
  run("account_remove_one_time_key", bob.status, keys.subarray(32, 64));
  for (const [kind, { status }] of [["account", bob], ["session", toAlice]] as const) {
    run(`${kind}_from_state`, 0, run(`${kind}_state`, status).answer);
    run(`${kind}_clone`, status);
  }

  const outbound = run("outbound_new", 0);
  const inbound = run("inbound_new", 0, run("outbound_session_key", outbound.status).answer);
  const messages = [1, 2, 3].map(() =>
    run("outbound_encrypt", outbound.status, utf8.encode("message")).answer
  );
  for (const message of messages) {
    run("inbound_decrypt", inbound.status, message, 1);
    run("megolm_message_index", 0, message);
  }
  run(
    "inbound_decrypt_all",
    inbound.status,
    join(...messages.map((each) => join(new Uint8Array(4), prefixed(each)))),
  );
  const exported = run("inbound_export_at", inbound.status, undefined, 2).answer;
  const part = run("inbound_import", 0, exported);
  run("outbound_sign_key", outbound.status, exported);
  run("inbound_compare", inbound.status, undefined, part.status);
  run("inbound_merge", part.status, undefined, inbound.status);
  run("inbound_advance_to", part.status, undefined, 7);
  for (const [kind, { status }] of [["outbound", outbound], ["inbound", inbound]] as const) {
    run(`${kind}_from_state`, 0, run(`${kind}_state`, status).answer);
    run(`${kind}_clone`, status);
  }

  const signing = run("signing_key_new", 0, new Uint8Array(32).fill(7));
  const signature = run("signing_key_sign", signing.status, utf8.encode("text")).answer;
  run("ed25519_verify", 0, join(signing.answer, signature, "text"));
  run("ed25519_check", 0, signing.answer);
  const agreement = run("agreement_key_new", 0, new Uint8Array(32).fill(8));
  run("agreement_key_agree", agreement.status, alice.answer.subarray(32));
  const decryption = run("pk_decryption_new", 0);
  run("pk_decrypt", decryption.status, run("pk_encrypt", 0, join(decryption.answer, "backup")).answer);

  const [one, other] = [run("sas_new", 0), run("sas_new", 0)];
  const sas = run("sas_establish", one.status, other.answer);
  run("sas_bytes", sas.status, utf8.encode("info"), 6);
  run("sas_string", sas.status, utf8.encode("info"));
  const mac = run("sas_mac", sas.status, join(prefixed("info"), "text")).answer;
  run("sas_mac_invalid_base64", sas.status, join(prefixed("info"), "text"));
  run("sas_verify_mac", sas.status, join(mac, prefixed("info"), "text"));

  const [shown, scanner] = [
    run("ecies_new", 0, utf8.encode("info")),
    run("ecies_new", 0, utf8.encode("info")),
  ];
  const sent = run("ecies_establish_outbound", scanner.status, join(shown.answer, "hello"));
  const got = run("ecies_establish_inbound", shown.status, join(scanner.answer, sent.answer.subarray(4)));
  run("ecies_decrypt", sent.status, run("ecies_encrypt", got.status, utf8.encode("welcome")).answer);

  const recipient = run("hpke_recipient_new", 0, utf8.encode("info"));
  const opened = run(
    "hpke_sender_establish",
    0,
    join(recipient.answer, prefixed("info"), prefixed(""), "hello"),
  );
  const accepted = run("hpke_recipient_establish", recipient.status, join(prefixed(""), opened.answer));
  const answered = run("hpke_recipient_respond", accepted.status, join(prefixed(""), "welcome"));
  const completed = run(
    "hpke_sender_complete",
    opened.status,
    join(prefixed(""), answered.answer.subarray(4)),
  );
  run(
    "hpke_open",
    answered.status,
    join(prefixed("aad"), run("hpke_seal", completed.status, join(prefixed("aad"), "x")).answer),
  );

  // Ends that are still open, and messages that are unread.
  const waiting = run("hpke_recipient_new", 0, utf8.encode("info"));
  const unanswered = run(
    "hpke_sender_establish",
    0,
    join(waiting.answer, prefixed("info"), prefixed(""), "hello"),
  );
  run("hpke_recipient_establish", waiting.status, join(prefixed(""), unanswered.answer));
  run("sas_new", 0);
  run("ecies_new", 0, utf8.encode("info"));
  const unread = [1, 2, 3].map((length) => {
    engine.call("session_encrypt", toAlice.status, ["x".repeat(length)]);
    return engine.bytes();
  });
  seeds.set("session_decrypt", [...seeds.get("session_decrypt") ?? [], ...unread]);
}

/**
 * The pickles of libolm in the corpus: operation, and the pickle in Base64, under the pickle key
 * "key".
 */
const PICKLES: readonly (readonly [Operation, string])[] = JSON.parse(
  await Deno.readTextFile(new URL("./corpus/libolm_pickles.json", import.meta.url)),
);

/** The input that imports a pickle. */
export function pickleInput(pickle: Uint8Array): Uint8Array {
  return join(prefixed(pickle.toBase64({ omitPadding: true })), "key");
}

/** The pickles as bytes. */
export function pickles(): [Operation, Uint8Array][] {
  return PICKLES.map(([operation, pickle]) => [operation, decodeBase64(pickle, "fuzz")]);
}
