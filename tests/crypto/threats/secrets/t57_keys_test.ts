/**
 * Room keys, and what opens them, on their way through key files and the backup: in logs, errors and objects.
 */

import { assert, assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import { backupOf, newDevice } from "../../../encryption/backup/scene.ts";
import { twoInARoom } from "../../../client/support/encrypted_room.ts";
import { clientStage } from "../../../client/support/stage.ts";
import { type Entry, fileOf, newEntries, PASSPHRASE } from "../../key_files/stage.ts";
import { decodeRecoveryKey } from "../../../../src/crypto/secrets/secrets.ts";
import { OTHER_KEY } from "../../../encryption/identity/scene.ts";
import { Planted, seen } from "../planted.ts";

const EXPORT = { rounds: 100_000 };

/** Entries of which the first is good, and each other wrong in its own way. */
function entriesOf(planted: Planted): Entry[] {
  const entries = newEntries(4);
  for (const { session_key } of entries) planted.add("room key", session_key);
  const [good, moved, cut, altered] = entries as [Entry, Entry, Entry, Entry];
  return [
    good,
    { ...moved, session_id: good.session_id },
    { ...cut, session_key: cut.session_key.slice(4) },
    { ...altered, session_key: altered.session_key.replace(/.{8}$/, "AAAAAAAA") },
  ];
}

Deno.test("T57: no room key, passphrase or recovery key shows in a log, an error or a report of key files and backups", async () => {
  await using here = clientStage();
  const planted = new Planted();
  const told: unknown[] = [];
  const attempt = async (work: () => Promise<unknown>) => {
    await work().then((value) => told.push(value), (error) => told.push(error));
  };
  const { alice, bob, roomId } = await twoInARoom(here);
  await alice.sendText(roomId, "hello");
  await here.settle();
  const { crypto } = bob;
  assert(crypto);
  for (const [name, text] of Object.entries({ OTHER_KEY, PASSPHRASE })) planted.add(name, text);
  const wrong = planted.text("another passphrase");

  const exported = await new Response(crypto.exportKeys({ passphrase: PASSPHRASE, ...EXPORT })).text();
  const entries = entriesOf(planted);
  const file = await fileOf(entries);
  const damaged = [exported.slice(0, -90), exported.replace("MEGOLM", "OTHER"), `${exported}x`, "nothing"];
  for (const text of [exported, ...damaged]) {
    await attempt(() => crypto.importKeys(text, { passphrase: wrong }));
  }
  for (const content of [JSON.stringify(entries).slice(0, -20), JSON.stringify(entries[0]), `[${wrong}]`]) {
    const broken = await fileOf(content);
    await attempt(() => crypto.importKeys(broken, { passphrase: PASSPHRASE }));
  }
  await attempt(() =>
    crypto.importKeys(file, { passphrase: PASSPHRASE, onProgress: (each) => told.push(each) })
  );

  let recoveryKey = "";
  const onRecoveryKey = (key: string) => {
    planted.add("recovery key", recoveryKey = key);
    planted.add("key of a backup", decodeRecoveryKey(key));
  };
  await attempt(() => backupOf(bob).create({ onRecoveryKey }));
  await bob.crypto?.idle();
  const fresh = await newDevice(here, { name: "bob", fetch: tampering(here.homeserver.fetch) });
  await attempt(() => backupOf(fresh).restore());
  await attempt(() => backupOf(fresh).trust({ recoveryKey: OTHER_KEY }));
  await attempt(() => backupOf(fresh).trust({ recoveryKey: recoveryKey.slice(1) }));
  await attempt(() => backupOf(fresh).trust({ recoveryKey }));
  await attempt(() => backupOf(fresh).restore({ onProgress: (each) => told.push(each) }));
  for (const status of [403, 500]) {
    using _fault = here.homeserver.faults.add({ kind: "status", status, match: { path: "/room_keys/" } });
    await attempt(() => backupOf(fresh).restore({ retry: false }));
    await attempt(() => backupOf(fresh).reset({ onRecoveryKey, retry: false }));
  }
  told.push(await backupOf(bob).info(), await backupOf(fresh).info(), ...objects(bob), ...objects(fresh));

  const reports = told.filter((each) => typeof each === "object" && each !== null && "refused" in each);
  assert(reports.some((each) => Object(each).refused >= 3), "keys that were refused");
  const errors = told.filter((each) => each instanceof Error);
  assert(errors.length >= 12, `only ${errors.length} errors`);
  assertEquals(planted.leaksIn([...told, ...here.log.lines].map(seen).join("\n")), []);
});

function objects(client: Client): unknown[] {
  return [client, client.crypto, client.crypto?.backup];
}

/** A server that changes some of what it has in the backup. */
function tampering(inner: typeof fetch): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const response = await inner(request);
    if (request.method !== "GET" || !request.url.includes("/room_keys/keys") || !response.ok) return response;
    return new Response((await response.text()).replace(/"mac":"..../, '"mac":"AAAA'));
  };
}
