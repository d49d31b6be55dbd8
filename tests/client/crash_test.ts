import { assert, assertEquals } from "@std/assert";
import type { Client, MessageEvent, RoomID } from "@greenroom/matrix";
import { type CrashPlan, type Deed, Life, MemoryStore, NO_CRASH } from "./support/crash.ts";
import { type ClientStage, clientStage } from "./support/stage.ts";

const ENCRYPTION = { algorithm: "m.megolm.v1.aes-sha2", rotation_period_msgs: 2 };

/** For how long the device is left alone when a process has ended, in milliseconds. */
const LEASE = 1_000;

/** What was seen by one who is never interrupted. */
interface Witness {
  readonly client: Client;
  readonly events: MessageEvent[];
  readonly unread: string[];
}

function witness(stage: ClientStage, name: string): Witness {
  const client = stage.client(name, { encryption: true });
  const [events, unread]: [MessageEvent[], string[]] = [[], []];
  client.on("m.room.message", (event) => void events.push(event as MessageEvent));
  client.on("UNDECRYPTABLE", ({ event, reason }) => void unread.push(`${event.event_id}: ${reason.message}`));
  client.start();
  return { client, events, unread };
}

/** A process that is begun anew on the same store whenever it ends. */
class Mortal {
  readonly heard = new Set<string>();
  readonly epitaphs: string[] = [];
  readonly #stage: ClientStage;
  readonly #store = new MemoryStore();
  #life: Life;
  client: Client;

  constructor(stage: ClientStage, plan: CrashPlan) {
    this.#stage = stage;
    this.#life = new Life(plan);
    this.client = this.#begin();
  }

  /** Does something until it is done, in as many lives as that takes. */
  async survive(
    work: (client: Client) => Promise<unknown>,
    condition: () => boolean = () => true,
  ): Promise<void> {
    for (let lives = 0; lives < 3; lives++) {
      const { client } = this;
      const outcome: { failure?: unknown; done: boolean } = { done: false };
      work(client).catch((failure) => outcome.failure = failure).finally(() => outcome.done = true);
      await this.#stage.until(() => this.#life.epitaph !== undefined || (outcome.done && condition()));
      if (this.#life.epitaph === undefined) {
        if (outcome.failure !== undefined) throw outcome.failure;
        return;
      }
      this.epitaphs.push(this.#life.epitaph);
      client.close(); // what is left of it finds neither store nor server
      this.#life = new Life(NO_CRASH);
      this.client = this.#begin();
      await this.#stage.clock.tick(LEASE); // who has ended can't let go of the device
    }
    throw new Error("It dies again and again");
  }

  #begin(): Client {
    const { homeserver } = this.#stage;
    const client = this.#stage.client("alice", {
      encryption: true,
      retry: false,
      lease: { duration: LEASE },
      store: this.#life.store(this.#store),
      fetch: this.#life.fetch(homeserver.fetch),
    });
    client.on(
      "m.room.message",
      ({ sender, event_id }) => void (sender !== client.mxid && this.heard.add(event_id)),
    );
    client.start().catch(() => {}); // the end of the process
    return client;
  }
}

/** A day in the life of a bot, which ends once, somewhere, and goes on. */
async function day(plan: CrashPlan): Promise<string | undefined> {
  await using stage = clientStage();
  const bob = witness(stage, "bob");
  const carol = witness(stage, "carol");
  await stage.settle();
  const room: RoomID = await bob.client.createRoom({
    invitees: ["@carol:localhost"],
    initialState: [{ type: "m.room.encryption", state_key: "", content: ENCRYPTION }],
  });
  const alice = new Mortal(stage, plan);
  await bob.client.inviteUser(room, "@alice:localhost");
  const said: string[] = [];
  const say = async (text: string): Promise<void> => {
    said.push(text);
    await alice.survive(
      (client) => client.sendText(room, text, { txnId: `txn-${text}` }),
      () => bob.events.some(({ content }) => content.body === text),
    );
  };
  const hear = async (text: string): Promise<void> => {
    const eventId = await bob.client.sendText(room, text);
    await alice.survive(() => Promise.resolve(), () => alice.heard.has(eventId));
  };
  await alice.survive((client) => client.joinRoom(room));
  await stage.settle();
  await say("one");
  await hear("un");
  await carol.client.joinRoom(room);
  await stage.settle();
  await say("two");
  await say("three"); // a new session: two messages are what one is good for
  await hear("deux");
  await carol.client.leaveRoom(room);
  await stage.settle();
  await say("four"); // a new session: someone has left
  await hear("trois");
  await stage.settle();

  const name = alice.epitaphs.join();
  const fromAlice = bob.events.filter(({ sender }) => sender === "@alice:localhost");
  assertEquals(fromAlice.map(({ content }) => content.body), said, name);
  assertEquals(bob.unread, [], name);
  assertEquals(carol.unread, [], name);
  const places = fromAlice.map(({ encryption }) => `${encryption?.sessionId} ${encryption?.messageIndex}`);
  assertEquals(new Set(places).size, said.length, name);
  return alice.epitaphs[0];
}

/** Ends the day at each deed of a kind, one after the other, until the day is too short for that. */
async function everyDay(deed: Deed, takesEffect: boolean): Promise<string[]> {
  const epitaphs: string[] = [];
  for (let at = 1;; at++) {
    const epitaph = await day({ deed, at, takesEffect });
    if (epitaph === undefined) return epitaphs;
    epitaphs.push(epitaph);
  }
}

/** What must be among the deeds at which the day ends: each is a place where something could be lost, or done twice. */
const DEEDS: Record<Deed, readonly string[]> = {
  commit: [
    "account",
    "devices",
    "olm-session",
    "outbound_session",
    "outbox",
    "inbound",
    "olm-seen",
    "replay",
    "sync",
  ],
  request: ["keys/upload", "keys/query", "keys/claim", "sendToDevice", "send/m.room.encrypted"],
};

Deno.test("A bot that ends nowhere sends and hears everything once", async () => {
  assertEquals(await day(NO_CRASH), undefined);
});

for (const deed of ["commit", "request"] as const) {
  for (const takesEffect of [false, true]) {
    const when = `${takesEffect ? "after" : "before"} any ${deed}`;
    Deno.test(`A bot that ends ${when} and begins anew sends and hears everything once`, async () => {
      const epitaphs = await everyDay(deed, takesEffect);
      for (const part of DEEDS[deed]) assert(epitaphs.some((epitaph) => epitaph.includes(part)), part);
    });
  }
}
