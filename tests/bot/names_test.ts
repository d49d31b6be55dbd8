import { assert, assertThrows } from "@std/assert";
import { Client, ValueError } from "@greenroom/matrix";
import { Bot, type BotOptions } from "@greenroom/matrix/bot";
import { optionsFromEnv } from "../../src/bot/running/env.ts";

const AT = { baseUrl: "https://matrix.example.org", token: "t" } as const;

Deno.test("An option that does not exist is refused by its name, with the nearest that does", () => {
  const given = (more: object) => ({ ...AT, ...more }) as BotOptions;
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
      [{ MATRIX_URL, MATRIX_USER: "@bot:example.org" }, "MATRIX_PASSWORD is not set"],
      [{ MATRIX_URL, MATRIX_USER: "enc", MATRIX_TOKEN: "t" }, 'MATRIX_USER has "enc", which is no user ID'],
      [{ MATRIX_URL, MATRIX_TOKEN: "t", MATRIX_ADMINS: "@a:b.c alice" }, 'MATRIX_ADMINS has "alice"'],
    ] as const
  ) {
    const all: Record<string, string> = env;
    assertThrows(() => optionsFromEnv((name) => all[name], {}, Object.keys(all)), ValueError, text);
  }
  const fine = { MATRIX_URL, MATRIX_TOKEN: "t", MATRIX_HOMESERVER_LOG: "x", MATRIX_ROOM: "!a", HOME: "/" };
  const read: Record<string, string> = fine;
  assert(optionsFromEnv((name) => read[name], {}, Object.keys(fine)).token === "t");
});

Deno.test("A time zone that does not exist is named", () => {
  const bot = new Bot({ ...AT, log: false });
  const every = () => bot.every("0 9 * * *", () => {}, { timezone: "Europe/Rom" });
  assertThrows(every, ValueError, "there is no time zone Europe/Rom");
});
