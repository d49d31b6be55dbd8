/**
 * A homeserver answers what a device asks when it begins (its identity, its secrets, the backup,
 * the devices of users) with anything in any place: another type, nothing, a huge text, a name
 * that means something to JavaScript.
 *
 * What must hold: the device begins, or says by an error of this library why not; it asks a bounded number of
 * times; it ends when it is closed; and it stores no secret, makes no backup and deletes nothing. An identity
 * is published only as the one that its secrets are of.
 *
 * The class of mistake: a member of an answer is taken for what it should be.
 */

import { assert, assertEquals } from "@std/assert";
import { MatrixError, MemoryStore } from "@greenroom/matrix";
import { isJsonObject } from "../../../../src/types/json.ts";
import { ENCRYPTED } from "../../../client/support/encrypted_room.ts";
import { clientStage } from "../../../client/support/stage.ts";
import { ALICE, device, KEY } from "../../../encryption/identity/scene.ts";
import { EVERYBODY } from "../../../support/everybody.ts";

/** What is put in place of each member. */
const ODD: readonly unknown[] = [
  ...[null, 5, -1, 1e308, "", "x", "A".repeat(70_000), [], {}, [null], [[]], true, "\u0000", "@a:b", 2 ** 53],
  JSON.parse('{"__proto__": {"x": 1}, "constructor": {"prototype": 1}}'),
];
/** How many of all lives are played: there are 11,000, at a tenth of a second each. */
const LIVES = 60;
/**
 * A device asks 20 times; where it waits for another to finish its reset, for a minute, every two seconds.
 */
const MOST_REQUESTS = 250;

/** The places of all members of an answer, from the outside in. */
function places(value: unknown, at: readonly string[] = []): (readonly string[])[] {
  const members = typeof value === "object" && value !== null ? Object.entries(value).slice(0, 12) : [];
  return [at, ...members.flatMap(([name, member]) => places(member, [...at, name]))];
}

/** An answer with something else in a place. */
function changed(value: unknown, [name, ...rest]: readonly string[], odd: unknown): unknown {
  if (name === undefined) return odd;
  if (Array.isArray(value)) return value.with(Number(name), changed(value[Number(name)], rest, odd));
  return isJsonObject(value) ? { ...value, [name]: changed(value[name], rest, odd) } : value;
}

/** A request by its method and path, without what differs from device to device. */
function nameOf({ method, url }: Request): string {
  const path = new URL(url).pathname.replace("/_matrix/client/v3/", "");
  return `${method} ${path.replaceAll(/\/[A-Za-z0-9_-]{20,}|!\w+/g, "…")}`;
}

/** What must not be written. That there is a backup is no secret (`m.key_backup`), and is said anew. */
const WRITES =
  /^(PUT|POST) (user\/[^/]+\/account_data\/(?!m\.key_backup$)|room_keys\/version|delete_devices)|^DELETE /;

Deno.test("T136: a device begins, or says why not, whatever is in any place of what it is answered", async () => {
  await using here = clientStage();
  const encryption = { recoveryKey: KEY, ...EVERYBODY };
  const first = await device(here, "FIRST", { store: new MemoryStore(), encryption });
  await first.crypto?.start();
  const bob = here.client("bob", { encryption: EVERYBODY });
  const room = await bob.createRoom({ preset: "public_chat", initialState: ENCRYPTED });
  await first.joinRoom(room);
  for (const client of [first, bob, first]) await client.syncOnce();
  await bob.sendText(room, "one");
  await first.syncOnce();
  await first.close();
  const own = (await bob.queryKeys([ALICE])).master_keys?.[ALICE]?.keys;

  /** Has a new device begin. */
  const live = async (number: number, answer: (name: string, body: unknown) => unknown) => {
    const made: string[] = [];
    const published: unknown[] = [];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      const name = nameOf(request);
      made.push(name);
      if (name.endsWith("device_signing/upload")) {
        published.push((await request.clone().json()).master_key?.keys);
      }
      const response = await here.homeserver.fetch(request);
      if (!response.headers.get("content-type")?.includes("json")) return response;
      return Response.json(answer(name, await response.json()), { status: response.status });
    };
    const client = await device(here, `D${number}`, { store: new MemoryStore(), encryption, fetch });
    let error: unknown;
    const begin = async (): Promise<void> => {
      await client.crypto?.start();
      await client.syncOnce();
      await client.crypto?.idle();
      await client.crypto?.backup.restore();
    };
    let isOver = false;
    const begun = begin().catch((reason) => error = reason).finally(() => isOver = true);
    for (let round = 0; round < 400 && !isOver; round++) await here.clock.tick(round > 60 ? 500 : 0);
    await client.close();
    await begun;
    return { made, published, error, isOver };
  };

  const answers = new Map<string, unknown>();
  const base = await live(0, (name, body) => {
    answers.set(name, answers.get(name) ?? body);
    return body;
  });
  assertEquals(base.error, undefined);
  const all = [...answers].flatMap(([name, body]) =>
    places(body).flatMap((place) => ODD.map((odd) => ({ name, place, odd })))
  );
  assert(all.length > 5_000, `${all.length} places and values`);
  const step = all.length / LIVES;
  for (let number = 1; number <= LIVES; number++) {
    const { name, place, odd } = all[Math.floor(number * step) - 1] as (typeof all)[number];
    const where = `${name}, ${place.join(".")}: ${JSON.stringify(odd).slice(0, 40)}`;
    const { made, published, error, isOver } = await live(
      number,
      (asked, body) => asked === name ? changed(body, place, odd) : body,
    );
    assert(isOver, `${where}: it does not end`);
    assert(error === undefined || error instanceof MatrixError, `${where}: ${Deno.inspect(error)}`);
    assert(made.length < MOST_REQUESTS, `${where}: ${made.length} requests`);
    assertEquals(made.filter((each) => WRITES.test(each)), [], where);
    assertEquals(published, published.map(() => own), where);
  }
});
