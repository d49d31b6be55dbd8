import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  Client,
  consoleLogger,
  defineEvent,
  defineSession,
  exportDevice,
  importDevice,
  inspectDevice,
  MemoryStore,
  ValueError,
} from "@greenroom/matrix";
import { Appservice, createRegistration } from "@greenroom/matrix/appservice";
import { KvStore } from "@greenroom/matrix/store/kv";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { Bot } from "@greenroom/matrix/bot";
import { BotTester, Homeserver } from "@greenroom/matrix/testing";
import { clientStage } from "./support/stage.ts";
import { OPERATION_OPTIONS } from "../../src/api/http/request_options.ts";

// Types refuse these at compile time; JavaScript, JSON and casts do not.
// deno-lint-ignore no-explicit-any
const given = (options: object): any => options;
const url = "http://localhost:9000";

Deno.test("Whatever is made refuses options that there are not, and names the nearest", async () => {
  const registration = createRegistration({ id: "echo", url, serverName: "localhost", encryption: true });
  const bridge = { registration, serverName: "localhost", baseUrl: "https://matrix.example.org" };
  const store = new MemoryStore();
  for (
    const [make, text] of [
      [() => new Homeserver(given({ severName: "x" })), "option severName; did you mean serverName?"],
      [() => new Homeserver(given({ quirks: { pagesize: 1 } })), "did you mean quirks.pageSize?"],
      [
        () => new Homeserver(given({ rateLimits: { joins: { perSeconds: 1 } } })),
        "did you mean rateLimits.joins.perSecond?",
      ],
      [() => new Homeserver().createUser("a", given({ pasword: "x" })), "did you mean password?"],
      [() => new Homeserver().faults.add(given({ kind: "status", stats: 502 })), "did you mean status?"],
      [
        () => new Homeserver().faults.add(given({ kind: "drop", match: { url: "x" } })),
        "no option match.url",
      ],
      [() => new BotTester(given({})), "write new BotTester((options) => new Bot(options))"],
      [() => createRegistration(given({ id: "a", url, servername: "x" })), "did you mean serverName?"],
      [() => new Appservice(given({ ...bridge, maxActin: 1 })), "did you mean maxActing?"],
      [
        () => new Appservice(given({ ...bridge, queries: { users: () => {} } })),
        "did you mean queries.user?",
      ],
      [
        () => new Appservice(given({ ...bridge, encryption: { sendto: "all" } })),
        "did you mean encryption.sendTo?",
      ],
      [() => new Appservice(given({ baseUrl: url })), "it has no registration"],
      [() => consoleLogger(given({ fromat: "json" })), "did you mean format?"],
      [() => defineEvent(given({ type: "a.b", clas: "message" })), "did you mean class?"],
      [() => defineSession(given({ name: "a", pre: "room", initial: () => ({}) })), "no option pre"],
      [() => defineSession(given({ name: "a", per: "rooms", initial: () => ({}) })), "not rooms"],
      [() => defineSession(given({ name: "a", per: "room" })), "initial must be a function"],
      [() => exportDevice(store, given({ mixd: "@a:b" })), "did you mean mxid?"],
      [() => new Client(given({ baseUrl: url, retry: { maxRetry: 1 } })), "did you mean retry.maxRetries?"],
      [() => new Client(given({ baseUrl: url, lease: "wait" })), "lease must be an object, not a string"],
      [
        () => new Client(given({ baseUrl: url, encryption: { verification: { acceptfrom: [] } } })),
        "did you mean encryption.verification.acceptFrom?",
      ],
      [() => new Client(given([])), "its options must be an object, not a list; write { "],
      [() => new Client(given({ baseUrl: url, lease: 1 })), "not a number; write { duration, held, owner }"],
    ] as const
  ) assertThrows(make, ValueError, text);
  for (
    const [open, text] of [
      [() => SqliteStore.open(":memory:", given({ patient: 1 })), "did you mean patience?"],
      [() => SqliteStore.open(given({ path: "x" })), "give the path of a file"],
      [() => KvStore.open(":memory:", given({ acessToken: "x" })), "did you mean accessToken?"],
      [() => importDevice(store, new ReadableStream(), given({ keys: 1 })), "did you mean key?"],
      [() => Client.discover("localhost", given({ fetsh: fetch })), "did you mean fetch?"],
      [() => inspectDevice(store, given({ mxid: "@a:b", deviceID: "x" })), "did you mean deviceId?"],
    ] as const
  ) await assertRejects(open, ValueError, text);
});

Deno.test("start(), syncOnce(), handlers and operations refuse options that there are not, before they do anything", async () => {
  await using homeserver = new Homeserver();
  const { accessToken: token } = homeserver.createUser("bot");
  await using client = new Client({
    baseUrl: homeserver.baseUrl,
    fetch: homeserver.fetch,
    accessToken: token,
  });
  const room = await client.createRoom();
  const changes = () => ["POST", "PUT"].map((method) => homeserver.requests.filter(method, "/").length);
  const before = changes();
  const file = new Uint8Array(1);
  for (
    const [call, text] of [
      [
        () => client.start(given({ ignoreInitalSync: true })),
        "Cannot start: there is no option ignoreInitalSync",
      ],
      [() => client.start(given({ backoff: { bas: 1 } })), "did you mean backoff.base?"],
      [() => client.start(given({ backoff: { minDelay: 1 } })), "did you mean backoff.base?"],
      [() => client.start(given({ backoff: { maxDelay: 1 } })), "did you mean backoff.cap?"],
      [() => client.syncOnce(given({ signals: true })), "Cannot sync once: there is no option signals"],
      [() => client.syncOnce(given({ pasTimeout: 1 })), "did you mean passTimeout?"],
      [() => client.sendText(room, "a", given({ htlm: "b" })), "no option htlm; did you mean html?"],
      [() => client.sendFile(room, file, given({ filname: "b" })), "did you mean fileName?"],
      [() => client.sendFile(room, file, given({ filename: "b" })), "did you mean fileName?"],
      [() => client.sendImage(room, file, given({ filename: "b" })), "did you mean fileName?"],
      [() => client.uploadMedia(file, given({ fileName: "b" })), "did you mean filename?"],
      [
        () => client.login(given({ identifier: "a", password: "b", deviceDisplayName: "c" })),
        "did you mean deviceName?",
      ],
      [() => client.uploadMedia(file, given({ mimetype: "a/b" })), "did you mean mimeType?"],
      [() => client.createRoom(given({ invitee: [] })), "did you mean invitees?"],
      [() => client.createRoom(given({ txnId: "x" })), "there is no option txnId; leave it out"],
      [() => client.getMessages(room, given({}), undefined, given({ limits: 1 })), "did you mean limit?"],
      [() => client.getJoinedRooms(given({ retry: { base: 1, caps: 1 } })), "did you mean retry.cap?"],
      [() => client.redact(room, "$a:b", given({ reasn: "x" })), "did you mean reason?"],
      [() => client.request("GET", "/a", given({ querry: {} })), "did you mean query?"],
    ] as const
  ) await assertRejects(call, ValueError, text);
  assertEquals(changes(), before);
  for (
    const [add, text] of [
      [() => client.on("m.room.message", given({})), "it must be a function, and is object"],
      [() => (client.on as (...args: unknown[]) => void)("m.room.message", undefined), "and is undefined"],
      [() => client.on("m.room.message", () => {}, given({ sequental: true })), "did you mean sequential?"],
      [() => client.addEventHandler(() => {}, given({ histroy: true })), "did you mean history?"],
    ] as const
  ) assertThrows(add, ValueError, text);
});

Deno.test("An option by the name that it has in other libraries is refused with the one that it has here", () => {
  const at = { baseUrl: "https://matrix.example.org" };
  for (
    const [call, name] of [
      [() => new Client(given({ homeserverUrl: "https://matrix.example.org" })), "homeserver"],
      [() => new Client(given({ ...at, token: "t" })), "accessToken"],
      [() => new Client(given({ ...at, userId: "@bot:example.org" })), "mxid"],
      [() => new Client(given({ ...at, storage: new MemoryStore() })), "store"],
      [() => new Bot(given({ ...at, token: "t" })), "accessToken"],
    ] as const
  ) assertThrows(call, ValueError, `did you mean ${name}?`);
});

Deno.test("What encryption does refuses options that there are not, before it does anything", async () => {
  await using homeserver = new Homeserver();
  const { accessToken: token } = homeserver.createUser("bot");
  const at = { baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken: token };
  await using client = new Client({ ...at, encryption: true, log: false });
  const { crypto, secretStorage } = client;
  assert(crypto !== undefined);
  const onRecoveryKey = () => {};
  const { recoveryKey } = await secretStorage.create({ onRecoveryKey });
  using storage = await secretStorage.open({ recoveryKey });
  const before = homeserver.requests.filter("POST", "/").length;
  for (
    const [call, text] of [
      [() => crypto.ensureVerified(given({ recoverKey: "x" })), "did you mean recoveryKey?"],
      [() => crypto.resetIdentity(given({ confrim: () => true })), "did you mean confirm?"],
      [() => crypto.doctor(given({ passphrse: "x" })), "did you mean passphrase?"],
      [
        () => crypto.importKeys(new Uint8Array(), given({ passphrase: "x", progress: 1 })),
        "no option progress",
      ],
      [() => crypto.requestVerification("@a:localhost", given({ way: [] })), "did you mean ways?"],
      [() => crypto.backup.info(given({ signl: 1 })), "did you mean signal?"],
      [() => crypto.backup.create(given({ storage, onRecoverKey() {} })), "no option onRecoverKey"],
      [() => crypto.backup.restore(given({ onprogress() {} })), "no option onprogress"],
      [() => crypto.backup.delete(given({ storge: 1 })), "no option storge"],
      [() => secretStorage.info(given({ timeout: 1 })), "no option timeout"],
      [() => secretStorage.create(given({ onRecoveryKey, passphrse: "x" })), "did you mean passphrase?"],
      [() => secretStorage.open({ recoveryKey }, given({ retrys: 1 })), "did you mean retry?"],
      [() => storage.set("a.b", "c", given({ alon: true })), "no option alon"],
      [() => storage.get("a.b", given({ alone: true })), "no option alone"],
    ] as const
  ) await assertRejects(async () => await call(), ValueError, text);
  assertThrows(
    () => crypto.exportKeys(given({ passphrase: "x", room: [] })),
    ValueError,
    "did you mean rooms?",
  );
  assertEquals(homeserver.requests.filter("POST", "/").length, before);
});

Deno.test("What an operation may have meant is looked for among the options of all", async () => {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--json", "types.ts"],
    cwd: new URL("../../", import.meta.url),
    stderr: "null",
  }).output();
  type Interface = {
    extends?: { value: { typeName?: string } }[];
    properties?: { name: string }[];
  };
  const interfaces = new Map<string, Interface>();
  type Module = { symbols: { name: string; declarations: { kind: string; def: Interface }[] }[] };
  const { nodes } = JSON.parse(new TextDecoder().decode(stdout)) as { nodes: Record<string, Module> };
  for (const { symbols } of Object.values(nodes)) {
    for (const { name, declarations } of symbols) {
      for (const { kind, def } of declarations) if (kind === "interface") interfaces.set(name, def);
    }
  }
  const isOfRequests = (name: string): boolean =>
    name === "RequestOptions" ||
    (interfaces.get(name)?.extends ?? []).some(({ value }) => isOfRequests(value.typeName ?? ""));
  const names = [...interfaces].filter(([name]) => isOfRequests(name))
    .flatMap(([, { properties = [] }]) => properties.map(({ name }) => name));
  assertEquals(names.filter((name) => !OPERATION_OPTIONS.includes(name)), []);
});

Deno.test("A timeout of a sync that is no number is refused before the first one", async () => {
  await using here = clientStage();
  const bot = here.client("bot");
  const options = { timeout: "30s" } as unknown as { timeout: number };
  const refusal = "Cannot use timeout 30s: it must be an integer of at least 0";
  await assertRejects(() => Promise.resolve(bot.start(options)), ValueError, refusal);
  await assertRejects(() => bot.syncOnce(options), ValueError, refusal);
  await bot.syncOnce({ timeout: 0 });
});

Deno.test("What is no options is refused where they belong, though it has no names, and so is what is no signal", async () => {
  await using homeserver = new Homeserver();
  const { accessToken } = homeserver.createUser("alice");
  const { baseUrl, fetch } = homeserver;
  await using client = new Client({ baseUrl, fetch, accessToken, log: false });
  const room = await client.createRoom();
  class Settings {}
  for (
    const [odd, what] of [
      [Promise.resolve({}), "a promise that was not awaited"],
      [/x/, "a RegExp"],
      [new Map([["limit", 1]]), "a Map"],
      [new Settings(), "a Settings"],
    ] as const
  ) {
    const options = given(odd);
    assertThrows(() => new Client(options), ValueError, `must be an object, not ${what}; write {`);
    for (
      const call of [
        () => client.createRoom(options),
        () => client.getMembers(room, options),
        () => client.sendText(room, "x", options),
        () => client.sendFile(room, new Uint8Array(1), options),
      ]
    ) await assertRejects(call, ValueError, `is ${what}, and must be an object with its options`);
  }
  const signal = given(new AbortController());
  for (
    const call of [
      () => client.createRoom({ signal }),
      () => client.getMembers(room, { signal }),
      () => client.sendText(room, "x", { signal }),
      () => client.sendText(room, "x", { signal, queue: "if-away" }),
      () => client.sendFile(room, new Uint8Array(1), { signal }),
      () => client.joinRoom(room, { signal }),
      () => client.isRoomEncrypted(room, { signal }),
      () => client.syncOnce({ signal }),
      () => client.start({ signal }),
    ]
  ) await assertRejects(call, ValueError, "signal must be an AbortSignal");
  assertEquals(homeserver.room(room).messages, []);
});

Deno.test("Options of a class, of another realm, or that inherit from others, are options", async () => {
  await using homeserver = new Homeserver();
  const { accessToken } = homeserver.createUser("alice");
  const { baseUrl, fetch } = homeserver;
  await using client = new Client({ baseUrl, fetch, accessToken, log: false });
  class Settings {
    readonly name = "Hall";
  }
  const made = [
    new Settings(),
    Object.assign(Object.create(null), { name: "Hall" }),
    Object.create({ name: "Hall" }),
  ];
  for (const options of made) {
    const room = await client.createRoom(given(options));
    assertEquals(homeserver.room(room).state("m.room.name")?.name, "Hall");
  }
  const { signal } = new AbortController();
  await client.getJoinedRooms({ signal });
});

Deno.test("A room needs a list of invitees, and a task its work", async () => {
  await using homeserver = new Homeserver();
  const { accessToken } = homeserver.createUser("alice");
  const { baseUrl, fetch } = homeserver;
  await using client = new Client({ baseUrl, fetch, accessToken, log: false });
  for (const name of ["invitees", "invite"]) {
    const options = given({ [name]: "@bob:localhost" });
    await assertRejects(() => client.createRoom(options), ValueError, "must be a list of user IDs");
  }
  await assertRejects(() => client.runTask("x", given({}).work), ValueError, "its work is missing");
});
