import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { CryptoDevice, JsonObject, UserID } from "@greenroom/matrix/types";
import { device } from "./fakes.ts";
import { ALICE, BOB, ME, memberEvent, ROOM, stateEvent } from "./room.ts";
import { indexOf, Stage } from "./stage.ts";

const USERS: readonly UserID[] = [ALICE, BOB, "@carol:example.org"];

/** What may happen, in any order. */
const happening = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ kind: "send" } as const) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("member" as const),
      user: fc.constantFrom(...USERS),
      membership: fc.constantFrom("join", "invite", "leave", "ban"),
      told: fc.constantFrom("sync", "limited", "lossy", "restart"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("device" as const), user: fc.constantFrom(...USERS, ME) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("deviceGone" as const),
      index: fc.nat(20),
      how: fc.constantFrom("told", "silent", "blocked"),
    }),
  },
  fc.record({ kind: fc.constant("wedge" as const), index: fc.nat(20) }),
  fc.record({
    kind: fc.constant("visibility" as const),
    visibility: fc.constantFrom("joined", "shared", "invited"),
  }),
  { weight: 2, arbitrary: fc.constant({ kind: "restart" } as const) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("crash" as const),
      when: fc.constantFrom("before", "after"),
      steps: fc.nat(4),
    }),
  },
  fc.record({ kind: fc.constant("time" as const), hours: fc.constantFrom(1, 100, 200) }),
);

type Happening = typeof happening extends fc.Arbitrary<infer Value> ? Value : never;

/** An event, and who was to be able to read it when it was encrypted. */
interface Sent {
  readonly event: JsonObject;
  readonly entitled: ReadonlySet<string>;
}

/** Plays what happens, and keeps what must be true of it. */
class Play {
  readonly #sent = new Map<string, Sent>();
  readonly #everybody: CryptoDevice[] = [];
  #names = 0;
  #stage: Stage;

  private constructor(stage: Stage) {
    this.#stage = stage;
    for (const userId of [ALICE, BOB]) this.#everybody.push(...stage.devices.of(userId));
  }

  static async of(happenings: readonly Happening[]): Promise<void> {
    const play = new Play(await Stage.open());
    for (const each of happenings) await play.#happens(each);
    await play.#send();
    await play.#stage.deliver();
    play.#check();
  }

  async #happens(each: Happening): Promise<void> {
    const stage = this.#stage;
    switch (each.kind) {
      case "send":
        return await this.#send();
      case "member":
        return await this.#member(each);
      case "device": {
        const added = device(each.user, `D${this.#names++}`);
        this.#everybody.push(added);
        return stage.devices.put(added);
      }
      case "deviceGone": {
        const gone = this.#present(each.index);
        if (gone === undefined) return;
        if (each.how === "told") return await stage.removeDevice(gone.userId, gone.deviceId);
        if (each.how === "silent") return void stage.devices.remove(gone.userId, gone.deviceId);
        return stage.devices.put({ ...gone, trust: "blacklisted" });
      }
      case "wedge": {
        const lost = this.#present(each.index);
        return lost && stage.olm.wedge(lost);
      }
      case "visibility":
        stage.room.visibility = each.visibility;
        return await stage.sync([
          stateEvent("m.room.history_visibility", { history_visibility: each.visibility }),
        ]);
      case "restart":
        return await stage.restart();
      case "crash":
        return await this.#crash(each);
      case "time":
        return await stage.clock.tick(each.hours * 3_600_000);
    }
  }

  async #member({ user, membership, told }: Extract<Happening, { kind: "member" }>): Promise<void> {
    const stage = this.#stage;
    stage.noteMember(user, membership);
    if (told === "restart") await stage.restart();
    else if (told === "lossy") await stage.sync([], { lossy: true });
    else await stage.sync([memberEvent(user, membership)], { limited: told === "limited" });
  }

  /** The process ends some steps into sending, before or after what it does is durable. */
  async #crash({ when, steps }: Extract<Happening, { kind: "crash" }>): Promise<void> {
    const stage = this.#stage;
    const txnId = `txn${this.#names++}`;
    try {
      for (let done = 0; done <= steps; done++) {
        stage.failing = done === steps ? when : undefined;
        if (await stage.tryToSend("crash", txnId) !== undefined) break;
        const { needs } = await stage.prepare();
        if (needs === "room") await stage.describe();
        if (needs === "keysClaim") stage.olm.claim();
        if (needs === "toDevice") await stage.deliver({ count: 1, lost: done % 2 === 0 });
      }
    } catch (error) {
      assert(error instanceof TypeError, String(error));
    }
    stage.failing = undefined;
    await stage.restart();
    for (const entry of stage.outbox.pending()) {
      if (entry.kind === "roomEvent") this.#note(entry.txnId, entry.content);
    }
  }

  async #send(): Promise<void> {
    const txnId = `txn${this.#names++}`;
    this.#note(txnId, await this.#stage.send("hello", txnId));
    await this.#stage.step((tx) => this.#stage.outbound.roomEventSent(tx, ROOM, txnId));
  }

  #note(txnId: string, event: JsonObject): void {
    const before = this.#sent.get(txnId);
    if (before !== undefined) return assertEquals(before.event, event);
    this.#sent.set(txnId, { event, entitled: this.#entitled() });
  }

  #entitled(): ReadonlySet<string> {
    const { room, devices } = this.#stage;
    const recipients = [...room.members].filter(([, kind]) =>
      kind === "join" || room.visibility !== "joined"
    );
    return new Set(
      recipients.flatMap(([userId]) => devices.of(userId)).filter(({ trust }) => trust !== "blacklisted")
        .map(({ curve25519 }) => curve25519),
    );
  }

  #present(index: number): CryptoDevice | undefined {
    const present = [...USERS, ME].flatMap((userId) => this.#stage.devices.of(userId));
    return present[index % Math.max(1, present.length)];
  }

  #check(): void {
    const places = new Set<string>();
    for (const [txnId, { event, entitled }] of this.#sent) {
      places.add(`${event.session_id} ${indexOf(event)}`);
      for (const each of this.#everybody) {
        const expected = entitled.has(each.curve25519);
        assertEquals(this.#stage.canRead(each, event), expected, `${each.deviceId} and ${txnId}`);
      }
    }
    assertEquals(places.size, this.#sent.size, "an index was used twice");
  }
}

Deno.test("whatever happens, events can be read by the devices that are entitled then and by no others, and no index is used twice", async () => {
  const happenings = fc.array(happening, { minLength: 3, maxLength: 30 });
  await fc.assert(fc.asyncProperty(happenings, (each) => Play.of(each)), { numRuns: 150, seed: 20_261_121 });
});
