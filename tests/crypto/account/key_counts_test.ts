/** How many one-time keys a server gets that does not say how many it has. */

import { assert, assertEquals } from "@std/assert";
import type { RequestFailure } from "../../../src/crypto/requests/requests.ts";
import type { UserID } from "@greenroom/matrix/types";
import { TestClock } from "@greenroom/matrix/testing";
import { KeyServer } from "../olm/key_server.ts";
import { Peer } from "../olm/peers.ts";

const MINUTE = 60_000;
const NOTHING_SAID = { counts: {}, fallback: ["signed_curve25519"] };

/** A device, whose server answers uploads with what it has, and says the wrong thing in syncs. */
async function device(
  { counts, fallback }: { counts: Record<string, number>; fallback: string[] | undefined },
) {
  const peer = await Peer.unpublished({ userId: "@alice:example.org", deviceId: "ALICE" });
  let [held, uploaded, uploads] = [0, 0, 0];
  const upload = async () => {
    for (let request = peer.keys.nextUpload(); request !== undefined; request = peer.keys.nextUpload()) {
      const given = request;
      const count = Object.keys(given.one_time_keys ?? {}).length;
      [held, uploaded, uploads] = [held + count, uploaded + count, uploads + 1];
      const response = { one_time_key_counts: { signed_curve25519: held } };
      await peer.step((tx) => peer.keys.receiveUpload(tx, given, response));
    }
  };
  await upload();
  return {
    peer,
    get uploaded() {
      return uploaded;
    },
    get uploads() {
      return uploads;
    },
    claim: (count: number) => void (held -= count),
    async sync(said: Record<string, number> = counts) {
      await peer.step((tx) => peer.keys.receiveCounts(tx, said, fallback));
      await upload();
    },
  };
}

for (const restarts of [false, true]) {
  for (
    const [what, said] of [
      ["leaves the counts out", NOTHING_SAID],
      ["leaves all counts out", { counts: {}, fallback: undefined }],
      ["says that it has none", { counts: { signed_curve25519: 0 }, fallback: ["signed_curve25519"] }],
    ] as const
  ) {
    Deno.test(`A server that ${what} gets no more keys with each of 120 syncs, ${restarts ? "in as many processes" : "in one process"}`, async () => {
      const here = await device({ ...said, fallback: said.fallback && [...said.fallback] });
      for (let time = 0; time < 120; time++) {
        if (restarts) await here.peer.restart();
        await here.sync();
      }
      assertEquals([here.uploaded, here.uploads], [100, 2]);
    });
  }
}

Deno.test("A server that leaves the counts out is asked every twenty minutes, and gets what was claimed", async () => {
  const here = await device(NOTHING_SAID);
  await here.sync();
  assertEquals(here.uploaded, 100);
  await here.peer.clock.tick(20 * MINUTE);
  await here.sync();
  assertEquals([here.uploaded, here.uploads], [100, 3]);
  here.claim(70);
  await here.peer.clock.tick(20 * MINUTE);
  await here.sync();
  assertEquals(here.uploaded, 120, "it has fifty again");
  await here.sync();
  assert(here.uploaded <= 170);
});

Deno.test("A server that refuses to be asked is asked every twenty minutes", async () => {
  const { peer, sync } = await device(NOTHING_SAID);
  await sync();
  await peer.clock.tick(20 * MINUTE);
  let asked = 0;
  for (let minute = 0; minute < 40; minute++) {
    await peer.step((tx) => peer.keys.receiveCounts(tx, {}, ["signed_curve25519"]));
    if (peer.keys.nextUpload() !== undefined) asked++;
    peer.keys.failUpload({ status: 400, message: "No keys" } as RequestFailure);
    await peer.clock.tick(MINUTE);
  }
  assertEquals(asked, 2);
});

Deno.test("A server that leaves the counts out gets new keys when messages show that most were claimed", async () => {
  const [server, clock] = [new KeyServer(), new TestClock()];
  const bob = await Peer.open({ userId: "@bob:example.org", deviceId: "BOB", server, clock });
  const kept = () => server.of("@bob:example.org", "BOB").oneTimeKeys.size;
  const sync = async () => {
    await bob.step((tx) => bob.keys.receiveCounts(tx, {}, ["signed_curve25519"]));
    while (await bob.upload() !== undefined);
  };
  const hearsOf = async (from: number, to: number) => {
    for (let index = from; index < to; index++) {
      const userId: UserID = `@u${index}:example.org`;
      const peer = await Peer.open({ userId, deviceId: "D", server, clock });
      await peer.meet(bob);
      await bob.read(await peer.send(bob, { index }));
      await sync();
    }
  };
  await sync();
  assertEquals(kept(), 100, "the first sync looked as if all were gone");
  await hearsOf(0, 49);
  assertEquals(kept(), 51);
  await hearsOf(49, 150);
  assert(kept() >= 50 && kept() <= 100, `${kept()} are left`);
});

Deno.test("A stranger who claims all keys is noticed at once, though an old count had one uploaded too many", async () => {
  for (const restarts of [false, true]) {
    const here = await device({ counts: { signed_curve25519: 49 }, fallback: ["signed_curve25519"] });
    await here.sync();
    assertEquals(here.uploaded, 51);
    await here.sync({ signed_curve25519: 51 });
    if (restarts) await here.peer.restart();
    here.claim(51);
    await here.sync({});
    assertEquals([here.uploaded, here.uploads], [101, 4], "it was asked, and has fifty again");
  }
});

Deno.test("A server that leaves the counts out of every second sync is asked each time, and gets no more keys", async () => {
  const here = await device(NOTHING_SAID);
  await here.sync();
  assertEquals([here.uploaded, here.uploads], [100, 2]);
  for (let time = 1; time <= 60; time++) {
    await here.sync({ signed_curve25519: 100 });
    await here.sync();
    assertEquals([here.uploaded, here.uploads], [100, 2 + time]);
  }
});

Deno.test("An old count among new ones has no keys uploaded where there are more than fifty", async () => {
  const here = await device({ counts: { signed_curve25519: 49 }, fallback: ["signed_curve25519"] });
  await here.sync();
  for (let time = 0; time < 10; time++) {
    await here.sync({ signed_curve25519: 51 });
    await here.sync();
  }
  assertEquals(here.uploaded, 51);
});
