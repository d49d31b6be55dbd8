import { assertEquals } from "@std/assert";
import type { Store, StoreMutation } from "@greenroom/matrix";

const MANY = 1_200;

/**
 * What a round writes: mostly small commits, now and then one with a large value, or more than one
 * commit takes.
 */
export function roundChanges(round: number): StoreMutation[] {
  const changes: StoreMutation[] = [
    { type: "set", key: ["log", String(round).padStart(8, "0")], value: { round } },
    { type: "set", key: ["first"], value: round },
    { type: "set", key: ["last"], value: round },
  ];
  if (round % 5 === 3) {
    changes.push({ type: "set", key: ["large"], value: new Uint8Array(150_000).fill(round) });
  }
  if (round % 5 === 4) {
    for (let index = 0; index < MANY; index++) {
      changes.push({ type: "set", key: ["many", String(index)], value: round });
    }
  }
  return changes;
}

/** The last round before this one, or this one, that wrote what each fifth does. */
const lastOf = (round: number, fifth: number) => round - ((round - fifth) % 5 + 5) % 5;

/** The last round that is there; fails if there are not exactly all rounds up to it, each whole. */
export async function wholeRounds(store: Store): Promise<number> {
  const log = await Array.fromAsync(store.list(["log"]));
  assertEquals(log.map(({ value }) => value), log.map((_, round) => ({ round })));
  const round = log.length - 1;
  if (round < 0) return round;
  const [first, last, large] = await store.getMany([["first"], ["last"], ["large"]]);
  assertEquals([first?.value, last?.value], [round, round]);
  const filled = lastOf(round, 3);
  assertEquals(large?.value, filled < 0 ? undefined : new Uint8Array(150_000).fill(filled));
  const written = lastOf(round, 4);
  const many = await Array.fromAsync(store.list(["many"]));
  assertEquals(many.length, written < 0 ? 0 : MANY);
  assertEquals(new Set(many.map(({ value }) => value)), new Set(written < 0 ? [] : [written]));
  return round;
}
