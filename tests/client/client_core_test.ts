import { assertEquals } from "@std/assert";
import { ActorError, ActorStoppedError } from "@greenroom/matrix/errors";
import type { StoreMutation } from "@greenroom/matrix";
import { Housekeeping } from "../../src/client/client_core.ts";
import { recordingLogger } from "../actors/kernel/support.ts";
import { answeredBy } from "../support/answered_by.ts";

const DAY = 86_400_000;
const YEAR = 365 * DAY;

/** Housekeeping on a clock that can be set, with the records that it keeps. */
class Stage {
  now = Date.UTC(2026, 0, 1);
  /** When something was let go of. */
  readonly pruned: number[] = [];
  /** What is logged. */
  readonly log = recordingLogger();
  /** How many records are let go of each time. */
  removed = 0;
  /** Why nothing can be. */
  failure: Error | undefined;
  readonly #records = new Map<string, unknown>();
  #housekeeping = this.#open();

  /** The process ends, and another begins. */
  restart(): void {
    this.#housekeeping = this.#open();
  }

  /** Some time later it looks; gives how often it has let go of something so far. */
  async look(ms: number): Promise<number> {
    this.now += ms;
    await this.#housekeeping.pruneIfDue();
    return this.pruned.length;
  }

  /** A record is damaged. */
  damage(key: string, value: unknown): void {
    this.#records.set(key, value);
  }

  #open(): Housekeeping {
    const answers: Record<string, (body: never) => unknown> = {
      readRecords: (keys: readonly string[][]) => keys.map((key) => this.#records.get(key.join())),
      commitRecords: (mutations: readonly StoreMutation[]) => {
        for (const mutation of mutations) {
          if (mutation.type === "set") this.#records.set(mutation.key.join(), mutation.value);
        }
      },
      pruneRooms: () => {
        if (this.failure !== undefined) throw this.failure;
        this.pruned.push(this.now);
        return { removed: this.removed, isDone: true };
      },
    };
    return new Housekeeping({
      store: answeredBy(async (kind, body) => await answers[kind]?.(body as never)),
      ready: () => Promise.resolve(),
      own: undefined,
    }, { clock: { now: () => this.now, delay: () => Promise.resolve() }, log: this.log });
  }
}

for (const restarts of [false, true]) {
  const how = restarts ? ", restarting each time" : "";

  /** A stage on which it was begun yesterday. */
  const begun = async () => {
    const stage = new Stage();
    await stage.look(0);
    assertEquals(await stage.look(DAY), 1);
    const look = async (ms: number) => {
      if (restarts) stage.restart();
      return await stage.look(ms);
    };
    return { stage, look };
  };

  Deno.test(`Pruning runs once a day, also after some weeks away${how}`, async () => {
    const { look } = await begun();
    assertEquals([await look(DAY - 1), await look(1), await look(29 * DAY), await look(DAY)], [1, 2, 3, 4]);
  });

  Deno.test(`A clock that is years ahead for some days has nothing let go of${how}`, async () => {
    const { look } = await begun();
    assertEquals(await look(4 * YEAR), 1);
    for (let day = 0; day < 6; day++) assertEquals(await look(DAY), 1);
    assertEquals(await look(-4 * YEAR), 2, "it is right again");
    assertEquals([await look(DAY - 1), await look(1)], [2, 3]);
  });

  Deno.test(`A clock that was ahead for two days, and is right again, is believed at once${how}`, async () => {
    const { look } = await begun();
    assertEquals([await look(4 * YEAR), await look(DAY), await look(-4 * YEAR)], [1, 1, 2]);
  });

  Deno.test(`A clock that is thirty days ahead is not believed at once${how}`, async () => {
    const { look } = await begun();
    assertEquals(await look(30 * DAY), 1);
  });

  Deno.test(`A clock that says for a week that years have gone by is believed${how}`, async () => {
    const { look } = await begun();
    assertEquals(await look(4 * YEAR), 1);
    for (let day = 0; day < 6; day++) assertEquals([await look(DAY - 1), await look(1)], [1, 1]);
    assertEquals([await look(DAY), await look(DAY)], [2, 3]);
  });

  Deno.test(`A client that runs once in two months prunes at each eighth time${how}`, async () => {
    const { stage, look } = await begun();
    for (let times = 0; times < 16; times++) await look(60 * DAY);
    assertEquals(stage.pruned.length, 3);
  });
}

Deno.test("Pruning is logged if it has removed anything", async () => {
  const stage = new Stage();
  await stage.look(0);
  await stage.look(DAY);
  assertEquals(stage.log.lines, []);
  stage.removed = 3;
  await stage.look(DAY);
  assertEquals(stage.log.lines, [["info", "Removed old records", { state: 3 }]]);
});

Deno.test("A failed pruning is logged, unless the client is ending, and tried the next day, or by the next process", async () => {
  for (
    const [error, levels] of [
      [new TypeError("down"), ["warn"]],
      [new ActorStoppedError("store"), []],
      [new ActorError("store", { cause: undefined }), []],
    ] as const
  ) {
    const stage = new Stage();
    await stage.look(0);
    stage.failure = error;
    await stage.look(DAY);
    assertEquals<readonly string[]>(stage.log.lines.map(([level]) => level), levels);
    stage.failure = undefined;
    assertEquals(await stage.look(DAY - 1), 0);
    stage.restart();
    assertEquals(await stage.look(0), 1);
  }
});

Deno.test("A count of doubtful days that is no number is none", async () => {
  const stage = new Stage();
  await stage.look(0);
  stage.damage("pruneDoubts", "7");
  assertEquals(await stage.look(DAY), 1);
});
