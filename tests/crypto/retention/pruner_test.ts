/** How what is to be done once a day is cut into steps. */

import { assertEquals } from "@std/assert";
import {
  GONE_PEER_DAYS,
  LEFT_PEER_DAYS,
  recordKey,
  schedulePruning,
  type Transaction,
} from "../../../src/crypto/records/mod.ts";
import { Pruner } from "../../../src/crypto/engine/engine_parts.ts";
import { TestClock } from "@greenroom/matrix/testing";
import type { UserID } from "@greenroom/matrix/types";
import { testContext } from "../support/context.ts";
import { memoryVault, step } from "../support/vault.ts";

type Outcome = "done" | "later" | "more";

/** A pruner of rooms and users that only note that they were looked at. */
class Stage {
  readonly clock = new TestClock();
  readonly vault = memoryVault();
  /** What was looked at, and for users after how many days. */
  readonly seen: string[] = [];
  readonly tracked = new Set<UserID>();
  rooms: string[] = [];
  /** What a look at a room does. */
  pruneRoom: (tx: Transaction, room: string) => Outcome = () => "done";
  /** What looks at users come to, one after the other; from then on they are done. */
  users: Outcome[] = [];
  #pruner = this.#open();

  restart(): void {
    this.#pruner = this.#open();
  }

  #open(): Pruner {
    const look = (name: string, outcome: Outcome) => {
      this.seen.push(name);
      return Promise.resolve(outcome);
    };
    return new Pruner(
      {
        context: testContext({ clock: this.clock }),
        devices: {
          tracked: { isFollowed: (userId: UserID) => this.tracked.has(userId) },
          pruneUser: () => Promise.resolve(),
        },
        olm: {
          housekeeping: {
            wanted: () => [],
            unknownDevices: () => [],
            pruneUser: (_tx: Transaction, userId: UserID, days: number) =>
              look(`${userId} ${days}`, this.users.shift() ?? "done"),
          },
        },
        outbound: {
          sessionRooms: () => this.rooms,
          pruneRoom: (tx: Transaction, room: string) => look(room, this.pruneRoom(tx, room)),
        },
        undecryptable: { forgetOld: () => "done" },
      } as unknown as ConstructorParameters<typeof Pruner>[0],
    );
  }

  /** A step; how many looks it took, and whether all is done. */
  async step(): Promise<[looks: number, done: boolean]> {
    const before = this.seen.length;
    const { done } = await step(this.vault, (tx) => this.#pruner.step(tx));
    return [this.seen.length - before, done];
  }

  /** Has a user looked at from now on. */
  async due(userId: UserID): Promise<void> {
    await step(this.vault, (tx) => schedulePruning(tx, userId, { now: this.clock.now(), days: 0 }));
  }
}

const rooms = (count: number) => Array.from({ length: count }, (_, index) => `!room${index}:example.org`);

Deno.test("a step looks at two hundred things, and the next goes on behind them", async () => {
  const stage = new Stage();
  stage.rooms = rooms(450);
  // What waits for its key is looked at first.
  assertEquals(await stage.step(), [199, false]);
  assertEquals(await stage.step(), [200, false]);
  assertEquals(await stage.step(), [51, true]);
  assertEquals(new Set(stage.seen).size, 450);
  assertEquals(await stage.step(), [199, false], "it starts again");
});

Deno.test("a step that has written three hundred records looks at nothing else", async () => {
  const stage = new Stage();
  stage.rooms = rooms(5);
  stage.pruneRoom = (tx, room) => {
    for (let n = 0; n < 100; n++) tx.set(recordKey("test", room, String(n)), n);
    return "done";
  };
  assertEquals(await stage.step(), [3, false]);
  assertEquals(await stage.step(), [2, false]);
});

Deno.test("a room of which there is more is looked at again until there is not", async () => {
  const stage = new Stage();
  stage.rooms = rooms(2);
  const outcomes: Outcome[] = ["more", "more", "done"];
  stage.pruneRoom = () => outcomes.shift() ?? "done";
  assertEquals(await stage.step(), [4, true]);
});

Deno.test("a user with more to prune is examined again, also by the next process", async () => {
  for (const restart of [false, true]) {
    const stage = new Stage();
    await stage.due("@alice:a.example");
    stage.rooms = rooms(197);
    stage.users = ["more", "more"];
    assertEquals(await stage.step(), [198, false]);
    if (restart) {
      stage.restart();
      stage.rooms = [];
    }
    while (!(await stage.step())[1]);
    assertEquals(stage.seen.filter((name) => name.startsWith("@")).length, 3);
  }
});

Deno.test("pruning that a process has not finished is due for the next one", async () => {
  const stage = new Stage();
  stage.rooms = rooms(300);
  assertEquals(await stage.step(), [199, false]);
  stage.restart();
  assertEquals(await stage.step(), [199, false]);
});

Deno.test("former devices of a present user are kept for a shorter time than those of one who has left", async () => {
  const stage = new Stage();
  const [here, left] = ["@here:a.example", "@left:a.example"] as const;
  stage.tracked.add(here);
  await stage.due(here);
  await stage.due(left);
  while (!(await stage.step())[1]);
  assertEquals(stage.seen.toSorted(), [`${here} ${GONE_PEER_DAYS}`, `${left} ${LEFT_PEER_DAYS}`]);
});
