import { assert, assertEquals, assertRejects } from "@std/assert";
import { MemoryStore, type Store, UnknownTokenError } from "@greenroom/matrix";
import { Bot } from "@greenroom/matrix/bot";
import { Homeserver, TestClock } from "@greenroom/matrix/testing";

/** How long an access token lives, in milliseconds. */
const LIFETIME = 3_000;

/**
 * A homeserver whose tokens live for a short time, a room of alice's,
 * and processes of one bot with a password.
 */
class Stage {
  readonly clock = new TestClock();
  readonly homeserver = new Homeserver({ clock: this.clock, accessTokenLifetime: LIFETIME });
  readonly store = new MemoryStore();
  readonly warnings: string[] = [];
  readonly #alice: string;
  readonly #bots: Bot[] = [];
  room: `!${string}` = "!";
  #said = 0;

  constructor() {
    this.homeserver.createUser("bot", { password: "tea" });
    this.#alice = this.homeserver.createUser("alice").accessToken;
  }

  /** A process of the bot. */
  bot(store: Store = this.store): Bot {
    const { clock, homeserver: { baseUrl, fetch } } = this;
    const note = (message: string, fields: unknown) =>
      void this.warnings.push(`${message} ${Deno.inspect(fields)}`);
    const log = { debug() {}, info() {}, warn: note, error: note };
    const bot = new Bot({ baseUrl, fetch, clock, log, store, mxid: "@bot:localhost", password: "tea" });
    bot.command("ping", (c) => c.reply("pong"));
    this.#bots.push(bot);
    return bot;
  }

  /** Starts a bot; resolves to its end. */
  async start(bot: Bot): Promise<{ end: Promise<unknown> }> {
    const end = bot.start({ signals: false }).then(() => undefined, (error) => error);
    await this.settle();
    return { end };
  }

  /** Alice asks something in the room. */
  async #ask(method: string, path: string, body: object): Promise<Record<string, string>> {
    const { baseUrl, fetch } = this.homeserver;
    const init = { method, headers: { authorization: `Bearer ${this.#alice}` }, body: JSON.stringify(body) };
    return await (await fetch(`${baseUrl}/_matrix/client/v3${path}`, init)).json();
  }

  /** Invites the bot into a room. */
  async invite(): Promise<void> {
    const { room_id } = await this.#ask("POST", "/createRoom", { invite: ["@bot:localhost"] });
    this.room = room_id as `!${string}`;
    await this.settle();
  }

  /** Alice says `!ping`. */
  async ping(): Promise<void> {
    const path = `/rooms/${encodeURIComponent(this.room)}/send/m.room.message/${this.#said++}`;
    await this.#ask("PUT", path, { msgtype: "m.text", body: "!ping" });
    await this.settle();
  }

  /** How often the bot has answered. */
  get pongs(): number {
    return this.homeserver.room(this.room).messages.filter(({ content }) => content.body === "pong").length;
  }

  /** How often somebody has logged in, and refreshed. */
  get asked(): { logins: number; refreshes: number } {
    const { requests } = this.homeserver;
    return {
      logins: requests.filter("POST", "/login").length,
      refreshes: requests.filter("POST", "/refresh").length,
    };
  }

  /** Waits for something that takes no more than ten seconds. */
  async done<Result>(work: Promise<Result>): Promise<Result> {
    let isDone = false;
    const note = () => void (isDone = true);
    work.then(note, note);
    for (let round = 0; round < 1_000 && !isDone; round++) await this.clock.tick(10);
    assert(isDone, "it goes on");
    return await work;
  }

  /** Has a bot log in. */
  async open(bot: Bot): Promise<void> {
    await this.done(bot.fetch(new Request("http://bot/health")));
  }

  /** Lets time pass, in seconds. */
  async pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      await this.clock.tick(1_000);
      await this.settle();
    }
  }

  /** Lets what is ready run. */
  async settle(): Promise<void> {
    for (let round = 0; round < 40; round++) await this.clock.tick(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closing = this.#bots.map((bot) => bot.close());
    await this.pass(6);
    await Promise.all(closing);
    await this.homeserver[Symbol.asyncDispose]();
  }
}

Deno.test("A process that waits for the device goes on with the tokens that the first one has renewed meanwhile", async () => {
  await using stage = new Stage();
  const first = stage.bot();
  const { end } = await stage.start(first);
  await stage.invite();
  await stage.ping();
  const second = stage.bot();
  await stage.start(second);
  for (let round = 0; round < 3; round++) {
    await stage.pass(4);
    await stage.ping();
  }
  assertEquals(stage.pongs, 4);
  assert(stage.asked.refreshes >= 3);
  const closing = first.close();
  await stage.pass(6);
  await closing;
  await end;
  await stage.ping();
  await stage.pass(2);
  assertEquals(stage.pongs, 5);
  assertEquals([second.client.deviceId, stage.asked.logins], [first.client.deviceId, 1]);
});

Deno.test("Instances with one store make passes in turn, though each renews the tokens", async () => {
  await using stage = new Stage();
  const instances = [stage.bot(), stage.bot()] as const;
  const [one, other] = instances;
  for (const bot of instances) {
    void bot.fetch; // no process stays
    await stage.done(bot.syncOnce());
  }
  await stage.invite();
  await stage.done(one.syncOnce());
  for (let round = 0; round < 6; round++) {
    await stage.ping();
    await stage.pass(4);
    await stage.done((round % 2 === 0 ? other : one).syncOnce());
  }
  assertEquals([stage.pongs, stage.asked.logins], [6, 1]);
});

Deno.test("Processes that refresh at the same time go on with one pair of tokens, which is the one in the store", async () => {
  await using stage = new Stage();
  const [one, other] = [stage.bot(), stage.bot()];
  for (const bot of [one, other]) await stage.open(bot);
  await stage.pass(4);
  const held = stage.homeserver.faults.add({ kind: "hold-after", match: { path: "/refresh" } });
  const asking = [one.client.whoami(), other.client.whoami()];
  await stage.settle();
  held.remove();
  await stage.settle();
  await Promise.all(asking);
  assertEquals([stage.asked.refreshes, one.client.api.accessToken], [2, other.client.api.accessToken]);
  const third = stage.bot();
  await stage.open(third);
  assertEquals([third.client.api.accessToken, stage.asked.logins], [one.client.api.accessToken, 1]);
});

Deno.test("A bot whose refresh token is refused logs in again with its device, and goes on", async () => {
  for (const [status, errcode] of [[401, "M_UNKNOWN_TOKEN"], [403, "M_FORBIDDEN"]] as const) {
    await using stage = new Stage();
    const bot = stage.bot();
    await stage.start(bot);
    await stage.invite();
    const device = bot.client.deviceId;
    stage.homeserver.faults.add({
      kind: "status",
      status,
      body: { errcode, error: "refresh token isn't valid anymore" },
      match: { path: "/refresh" },
    });
    await stage.pass(8);
    await stage.ping();
    assertEquals([stage.pongs, bot.client.deviceId], [1, device]);
    assert(stage.asked.logins > 1);
    const before = stage.asked.logins;
    const next = stage.bot();
    await stage.open(next);
    assertEquals([next.client.deviceId, stage.asked.logins], [device, before], "the new session is kept");
  }
});

Deno.test("A bot that is refused a login, too, ends with why its session has", async () => {
  await using stage = new Stage();
  const { end } = await stage.start(stage.bot());
  for (const path of ["/refresh", "/login"]) {
    const body = { errcode: "M_FORBIDDEN", error: "no" };
    stage.homeserver.faults.add({ kind: "status", status: 403, body, match: { path } });
  }
  await stage.pass(40);
  const error = await end;
  assert(error instanceof UnknownTokenError && error.isSoftLogout);
});

/** A store in which a process crashes before a write of the account, if it says so. */
function crashing(store: Store, crashes: (value: { readonly tokens?: unknown }) => boolean): Store {
  return {
    getMany: (keys) => store.getMany(keys),
    list: (prefix, options) => store.list(prefix, options),
    commit: async (mutations, checks) => {
      for (const mutation of mutations) {
        const isAccount = mutation.type === "set" && mutation.key.includes("account");
        if (isAccount && crashes(mutation.value as object)) throw new RangeError("crash");
      }
      return await store.commit(mutations, checks);
    },
    close: () => {},
  };
}

Deno.test("A crash between a login and the write of its tokens leaves the device, though the server knows no others", async () => {
  await using stage = new Stage();
  let crashes = false;
  const bot = stage.bot(crashing(stage.store, ({ tokens }) => crashes && tokens !== undefined));
  await stage.open(bot);
  crashes = true;
  const body = { errcode: "M_FORBIDDEN", error: "no" };
  const refused = stage.homeserver.faults.add({
    kind: "status",
    status: 403,
    body,
    match: { path: "/refresh" },
  });
  await stage.pass(4);
  await assertRejects(() => stage.done(bot.client.whoami()), RangeError, "crash");
  refused.remove();
  stage.homeserver.revokeTokens("@bot:localhost"); // as a login may do with earlier tokens of its device
  stage.warnings.length = 0;
  const next = stage.bot();
  await stage.open(next);
  assertEquals([next.client.deviceId, stage.warnings], [bot.client.deviceId, []]);
});

Deno.test("A crash before a new pair of tokens is stored leaves the old one, with which the next process goes on", async () => {
  await using stage = new Stage();
  let breaks = false;
  const bot = stage.bot(crashing(stage.store, () => breaks));
  await stage.open(bot);
  await stage.pass(4);
  breaks = true;
  await assertRejects(() => stage.done(bot.client.whoami()), RangeError, "crash");
  assertEquals(stage.asked.refreshes, 1);
  const next = stage.bot();
  await stage.open(next);
  assertEquals([next.client.deviceId, stage.asked], [bot.client.deviceId, { logins: 1, refreshes: 2 }]);
});

Deno.test("A bot whose session was logged out elsewhere ends, and its next start warns that it is a new device", async () => {
  await using stage = new Stage();
  const bot = stage.bot();
  const { end } = await stage.start(bot);
  const old = bot.client.deviceId ?? "";
  stage.homeserver.revokeTokens("@bot:localhost");
  await stage.pass(40);
  const error = await end;
  assert(error instanceof UnknownTokenError && !error.isSoftLogout);
  const closing = bot.close();
  await stage.pass(6);
  await closing;
  stage.warnings.length = 0;
  const next = stage.bot();
  await stage.start(next);
  const device = next.client.deviceId ?? "";
  assert(device !== "" && device !== old);
  assertEquals(stage.warnings.length, 1);
  for (const part of [old, device, "is not answered", "conversations, reminders, sessions"]) {
    assert(stage.warnings[0]?.includes(part), `${part} in ${stage.warnings[0]}`);
  }
});

Deno.test("Processes that start for the first time at once are one device", async () => {
  await using stage = new Stage();
  const [one, other] = [stage.bot(), stage.bot()];
  await Promise.all([one, other].map((bot) => stage.open(bot)));
  assert(one.client.deviceId !== undefined);
  assertEquals(other.client.deviceId, one.client.deviceId);
  await stage.pass(4);
  for (const bot of [one, other]) await stage.done(bot.client.whoami());
});
