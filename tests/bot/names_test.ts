import { assert, assertThrows } from "@std/assert";
import { Client, ValueError } from "@greenroom/matrix";
import { Bot, type BotOptions, type Context } from "@greenroom/matrix/bot";
import { BotTester } from "@greenroom/matrix/testing";
import { optionsFromEnv } from "../../src/bot/env.ts";

const AT = { baseUrl: "https://matrix.example.org", accessToken: "t" } as const;

// deno-lint-ignore no-explicit-any
const given = (value: unknown): any => value; // as JavaScript, JSON and casts let pass

Deno.test("An option that does not exist is refused by its name, with the nearest that does", () => {
  const given = (more: object) =>
    ({ ...AT, ...more }) as BotOptions & { store?: never; homeserver?: never; password?: never };
  for (const make of [(more: object) => new Client(given(more)), (more: object) => new Bot(given(more))]) {
    for (
      const [more, text] of [
        [{ encrytion: true }, "there is no option encrytion; did you mean encryption?"],
        [{ baseURL: "x" }, "no option baseURL; did you mean baseUrl?"],
        [
          { encryption: { recoverykey: "x" } },
          "no option encryption.recoverykey; did you mean encryption.recoveryKey?",
        ],
        [{ lease: { durations: 1 } }, "no option lease.durations; did you mean lease.duration?"],
        [{ wake: { secrets: "x" } }, "no option wake.secrets; did you mean wake.secret?"],
        [{ somethingElse: 1 }, "no option somethingElse; leave it out"],
      ] as const
    ) assertThrows(() => make(more), ValueError, text);
  }
  assertThrows(() => new Bot(given({ prefx: "?" })), ValueError, "no option prefx; did you mean prefix?");
  assertThrows(() => new Client(given({ prefix: "?" })), ValueError, "no option prefix");
});

Deno.test("Variables: one near to another is refused, half an account too, and each error names its variable", () => {
  const MATRIX_URL = "https://matrix.example.org";
  for (
    const [env, text] of [
      [{ MATRIX_URL, MATRIX_TOKE: "t" }, "no variable MATRIX_TOKE; did you mean MATRIX_TOKEN?"],
      [{ MATRIX_URL, MATRIX_TOKEN: "t", MATRIX_RECOVERYKEY: "t" }, "did you mean MATRIX_RECOVERY_KEY?"],
      [
        { MATRIX_URL, MATRIX_TOKEN: "t", MATRX_STORE: "a" },
        "no variable MATRX_STORE; did you mean MATRIX_STORE?",
      ],
      [{ MATRIX_URL, MATRIX_TOKEN: "t", matrix_store: "a" }, "did you mean MATRIX_STORE?"],
      [{ MATRIX_URL, MATRIX_USER: "@bot:example.org" }, "MATRIX_PASSWORD is not set"],
      [{ MATRIX_URL, MATRIX_USER: "enc", MATRIX_TOKEN: "t" }, 'MATRIX_USER has "enc", which is no user ID'],
      [{ MATRIX_URL, MATRIX_TOKEN: "t", MATRIX_ADMINS: "@a:b.c alice" }, 'MATRIX_ADMINS has "alice"'],
    ] as const
  ) {
    const all: Record<string, string> = env;
    assertThrows(() => optionsFromEnv((name) => all[name], {}, Object.keys(all)), ValueError, text);
  }
  const fine = {
    ...{ MATRIX_URL, MATRIX_TOKEN: "t", HOME: "/" },
    ...{ MATRIX_HOMESERVER_LOG: "x", MATRIX_LANG: "en", MATRIX_ROOM: "!a", MATRIX_TOKENS: "t u" }, // its own
  };
  const read: Record<string, string> = fine;
  assert(optionsFromEnv((name) => read[name], {}, Object.keys(fine)).accessToken === "t");
});

Deno.test("Admins, rooms and patterns of users that can't be any are named", () => {
  for (
    const [more, text] of [
      [{ admins: "alice" }, 'admins is "alice"; give a list of user IDs'],
      [{ admins: ["alice"] }, 'admins has "alice", which is no user ID'],
      [{ admins: [] as string[], allow: "@a:b.c" }, 'allow is "@a:b.c"; give a list'],
      [{ allow: ["alice"] }, 'allow has "alice", which is no user ID'],
      [{ deny: [7] }, "deny has a value of type number"],
      [{ admins: { powerLevel: "50" } }, "admins.powerLevel must be a whole number"],
      [{ admins: { powerLevel: 50, powerlevel: 50 } }, "did you mean admins.powerLevel?"],
      [{ rooms: ["#general:b.c"] }, 'rooms has "#general:b.c", which is no room ID'],
      [{ rateLimit: { cuont: 1, window: 1 } }, "did you mean rateLimit.count?"],
      [{ prefix: "" }, "prefix must be a text without spaces"],
    ] as const
  ) assertThrows(() => new Bot({ ...AT, log: false, ...more } as unknown as BotOptions), ValueError, text);
  new Bot({ ...AT, log: false, allow: ["@*:b.c", "*", "?alice:*", "@a:b.c"], admins: ["@a:b.c"] });
});

Deno.test("A function that is missing is refused where it is added", () => {
  const bot = new Bot({ ...AT, log: false });
  // deno-lint-ignore no-explicit-any
  const untyped = bot as any;
  for (
    const [add, text] of [
      [() => untyped.command("x"), 'Cannot add the command "x": its function is missing'],
      [() => untyped.command("x", undefined), "its function is missing"],
      [() => untyped.command("x", { description: "x" }), "its function is missing"],
      [() => untyped.command("x", { descripton: "x" }, () => {}), "did you mean description?"],
      [() => untyped.command("x", () => {}, undefined), "its function is missing"],
      [() => untyped.command("x", () => {}, "y"), "its function is of type string"],
      [() => untyped.command("x", "y"), "its function is missing"],
      [() => untyped.on("message:text", undefined), "Cannot use undefined as middleware"],
      [() => untyped.on("mesage:text", () => {}), 'Cannot listen to "mesage:text"'],
      [() => untyped.hears(undefined, () => {}), "a pattern must be a text"],
      [() => untyped.reaction(undefined, () => {}), "the key is missing"],
      [() => untyped.filter(undefined, () => {}), "its test is missing"],
      [() => untyped.errorBoundary(undefined, () => {}), "its handler is missing"],
      [() => untyped.catch(), "the handler is missing"],
      [() => untyped.every("0 9 * * *"), "its function is missing"],
      [() => untyped.every("0 9 * * *", () => {}, { timeZone: "UTC" }), "did you mean timezone?"],
      [() => untyped.reminder("tea"), "its function is missing"],
      [() => untyped.in("!a:b.c", { tread: "$a" }), "did you mean thread?"],
    ] as const
  ) assertThrows(add, ValueError, text);
});

Deno.test("What a function does with c refuses options that there are not, and is reported", async () => {
  const calls: Readonly<Record<string, (c: Context) => unknown>> = {
    "ask: there is no option timout; did you mean timeout?": (c) => c.ask("?", given({ timout: 1 })),
    "confirm: there is no option yess": (c) => c.confirm("?", given({ yess: [] })),
    "menu: there is no option label; did you mean labels?": (c) => c.menu("?", {}, given({ label: {} })),
    "wait: there is no option filtr": (c) => c.wait(given({ filtr: "reaction" })),
    'wait for "mesage:text"': (c) => c.wait({ filter: given("mesage:text") }),
    "send: there is no option fromat": (c) => c.reply("?", given({ fromat: "html" })),
    "send: there is no option mention;": (c) => c.send("?", given({ mention: [] })),
    "stream: there is no option intervall": (c) => c.stream(pieces(), given({ intervall: 1 })),
    "sendPoll: there is no option maxSelection;": (c) => c.sendPoll("?", ["a"], given({ maxSelection: 1 })),
    "sendImage: there is no option fileName": (c) => c.sendImage(new Uint8Array(), given({ fileName: "a" })),
    "sendFile: there is no option mimetype; did you mean mimeType?": (c) =>
      c.sendFile(new Uint8Array(), given({ mimetype: "a/b" })),
    "remind: there is no option nam;": (c) => c.remind({ in: 1 }, given({ nam: "a" })),
  };
  const caught: string[] = [];
  await using tester = new BotTester((options) => {
    const bot = new Bot({ ...options, saysFailures: false, rateLimit: false });
    for (const [at, call] of Object.values(calls).entries()) bot.command(`call${at}`, call);
    return bot.catch((error) => caught.push((error as Error).message));
  });
  const room = await tester.room("alice");
  for (const at of Object.keys(calls).keys()) await room.say(`!call${at}`);
  await tester.until(() => caught.length === Object.keys(calls).length, "All were to fail");
  for (const text of Object.keys(calls)) {
    assert(caught.some((message) => message.includes(`Cannot ${text}`)), `${text}\n${caught.join("\n")}`);
  }
});

async function* pieces(): AsyncGenerator<string> {
  yield "a";
}

Deno.test("A time zone that does not exist is named", () => {
  const bot = new Bot({ ...AT, log: false });
  const every = () => bot.every("0 9 * * *", () => {}, { timezone: "Europe/Rom" });
  assertThrows(every, ValueError, "there is no time zone Europe/Rom");
});
