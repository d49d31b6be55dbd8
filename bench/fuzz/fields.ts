/**
 * Fuzzes a running client with encryption field by field: each field of what a homeserver passes on (messages
 * to the device, clear and encrypted, account data, device lists, answers about keys) becomes each of a list
 * of hostile values, while the rest of the response is as it should be.
 *
 * `deno task fuzz:fields [COUNT] [--seed=1] [--sliding]`: without a count all are played;
 * with `--sliding` the fields of answers of sliding sync.
 *
 * @module
 */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { MemoryStore } from "@greenroom/matrix";
import { Bot, NOTE } from "./bot.ts";
import { changedAt, type FieldsOptions, type FieldsPlayed, ODD, places } from "./changed_fields.ts";
import { KINDS } from "./field_kinds.ts";
import { FuzzClock } from "./fuzz_clock.ts";
import { parsed, randomFor } from "./input.ts";
import { jsonText } from "./odd_values.ts";
import { Senders } from "./senders.ts";
import { FuzzServer } from "./server.ts";
import { ENCRYPTED_ROOM, ValidResponses } from "./valid_responses.ts";
import { Watch } from "./watch.ts";

type Json = Record<string, unknown>;

/** After so many responses the client sends, too. */
const SEND_EVERY = 25;
const MINUTE = 60_000;
/** How much more memory may be held in the end, in bytes. */
const MAX_GROWTH = 64 * 2 ** 20;

/** Plays changes, until one shows a fault. */
export async function playFields({ count, seed = 1 }: FieldsOptions = {}): Promise<FieldsPlayed> {
  const vodozemac = await Vodozemac.load();
  using senders = new Senders(vodozemac, Senders.people(vodozemac));
  const clock = new FuzzClock(Date.UTC(2026, 8, 1));
  const server = new FuzzServer({ seed, index: -1, senders });
  server.alter = (_, answer) => answer;
  const store = new MemoryStore();
  const bot = new Bot({ server, store, clock, number: 0 });
  const watch = new Watch(clock, server);
  const valid = new ValidResponses(senders, { encryptedEvery: 1 });
  const played = new Map<string, number>();
  let [tokens, sent, doing] = [0, 0, "the start"];
  watch.begin(bot);

  /** Serves a response with what has to be received beside what is changed. */
  const receives = async (change: (response: Json) => void): Promise<void> => {
    const { texts, ...good } = valid.make(`s${++tokens}`);
    const response = parsed(good.bytes) as Json;
    const notes = [`to-device ${tokens}`, `account data ${tokens}`];
    const note = (text: string) => ({ type: NOTE, sender: "@alice:example.org", content: { note: text } });
    response.to_device = {
      events: [
        ...(response.to_device as { events: unknown[] } | undefined)?.events ?? [],
        note(notes[0] ?? ""),
      ],
    };
    response.account_data = { events: [note(notes[1] ?? "")] };
    change(response);
    server.serve({ ...good, bytes: new TextEncoder().encode(jsonText(response)) });
    await watch.until(() =>
      senders.isPublished && [...texts, ...notes].every((text) => bot.received.has(text))
    );
    bot.received.clear();
  };

  const stage = { server, clock, senders };
  await receives(() => {});
  await receives(() => {});
  const cases = KINDS.flatMap((kind) =>
    places(kind.make(senders)).flatMap((place) => ODD.map((odd) => ({ kind, place, odd })))
  );
  const random = randomFor({ seed, index: 0 }, 5);
  const step = Math.max(1, cases.length / (count ?? cases.length));
  const before = Deno.memoryUsage().heapUsed;
  for (let at = count === undefined ? 0 : random.below(Math.ceil(step)); at < cases.length; at += step) {
    const { kind, place, odd } = cases[Math.floor(at)] as (typeof cases)[number];
    doing = `${kind.name}, ${place.join(".")}: ${
      String(typeof odd === "symbol" ? "absent" : JSON.stringify(odd)).slice(0, 60)
    }`;
    await receives((response) => kind.give(response, changedAt(kind.make(senders), place, odd), stage));
    await receives(() => {});
    server.alter = (_, answer) => answer;
    if (bot.faults.length > 0) break;
    played.set(kind.name, (played.get(kind.name) ?? 0) + 1);
    clock.advance(MINUTE);
    if (played.size > 0 && tokens % (2 * SEND_EVERY) < 2) {
      await bot.client.sendText(ENCRYPTED_ROOM, "still here")
        .then(() => sent++, (error) => bot.fault("sending", error));
    }
  }
  const grown = Deno.memoryUsage().heapUsed - before;
  if (grown > MAX_GROWTH) bot.fault("memory", `${grown} bytes more`);
  if (bot.faults.length === 0) await bot.close();
  watch.end();
  await bot.close().catch(() => {}); // a fault was recorded
  await store.close();
  const fault = bot.faults.length === 0 ? undefined : `${doing}: ${bot.faults.join("\n")}`;
  return { all: cases.length, played, fault, sent };
}

if (import.meta.main) {
  const count = Deno.args.find((arg) => !arg.startsWith("--"));
  const seed = Deno.args.find((arg) => arg.startsWith("--seed="))?.slice("--seed=".length);
  const options = {
    ...(count !== undefined && { count: Number(count) }),
    ...(seed !== undefined && { seed: Number(seed) }),
  };
  const { playSlidingFields } = await import("./sliding_fields.ts");
  const plays = Deno.args.includes("--sliding")
    ? (["synapse", "merged"] as const).map((spelling) => () => playSlidingFields(spelling, options))
    : [() => playFields(options)];
  let isGood = true;
  for (const play of plays) {
    const { all, played, fault, sent } = await play();
    console.table(Object.fromEntries(played));
    console.log(`${all} changes; ${fault ?? "no fault"}; ${sent} messages sent`);
    isGood &&= fault === undefined;
  }
  Deno.exit(isGood ? 0 : 1);
}
