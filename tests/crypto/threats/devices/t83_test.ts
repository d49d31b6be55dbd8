/**
 * A server shows hundreds of users with a thousand devices each in one answer. To verify them takes longer
 * than a lease: a process that does nothing else meanwhile loses its device, and would do so again after each
 * start.
 *
 * What must hold: a step judges a thousand devices, and those of one user at most; between steps the process
 * can do other things.
 *
 * The class of mistake: each part was bounded, and the number of parts,
 * but not the work that they come to in one go.
 */

import { assert, assertEquals } from "@std/assert";
import type { UserID } from "@greenroom/matrix/types";
import { aliceAndBob } from "../../engine/bot.ts";
import { FakeUser } from "../../support/fake_user.ts";

const MALLORYS: UserID[] = ["@m1:evil.org", "@m2:evil.org", "@m3:evil.org", "@m4:evil.org", "@m5:evil.org"];

for (const [count, steps] of [[400, 3], [1_001, 5]] as const) {
  Deno.test(`T83: devices of five users, ${count} each, are judged in ${steps} steps, with time in between`, async () => {
    const { server, bob } = await aliceAndBob();
    for (const userId of MALLORYS) {
      const user = new FakeUser(userId, ...Array.from({ length: count }, (_, index) => `DEVICE${index}`));
      server.keys.set(
        userId,
        new Map(user.devices.map((device) => [device.deviceId, user.deviceKeys(device) as never])),
      );
      server.member(userId, "join");
    }
    await bob.engine.receiveSync(bob.collect());
    let turns = 0;
    const counted = (): void => void (turns++, beat = setImmediate(counted));
    let beat = setImmediate(counted);
    const requests = await bob.engine.requests();
    const query = requests.find((request) => request.kind === "keysQuery");
    assert(query !== undefined);
    assert(MALLORYS.every((userId) => query.users.includes(userId)));
    const response = server.answer(bob, query);
    const before = turns;
    await bob.engine.answer({ id: query.id, response });
    clearImmediate(beat);
    assert(turns - before >= steps - 1, `${turns - before} turns`);
    assertEquals((await bob.engine.devicesOf(MALLORYS)).length, MALLORYS.length * Math.min(count, 1_000));
    assertEquals((await bob.engine.requests()).filter(({ kind }) => kind === "keysQuery"), []);
  });
}
