/**
 * A public object that is printed, or put into a ticket as JSON, shows a token:
 * the application service had its registration as a field.
 *
 * Attacker: anybody who sees that. What must hold: no object of any class that the package exports shows a
 * secret, with all hidden properties, fresh, at work and closed; nor do the objects that those hand out. A
 * class without a case here fails the test.
 *
 * The class of mistake: what an object is made of is kept as it was given.
 */

import { assert, assertEquals } from "@std/assert";
import * as main from "@greenroom/matrix";
import * as kit from "@greenroom/matrix/bot";
import * as appservices from "@greenroom/matrix/appservice";
import * as kv from "@greenroom/matrix/store/kv";
import * as sqlite from "@greenroom/matrix/store/sqlite";
import { BotTester } from "@greenroom/matrix/testing";
import type { UserID } from "@greenroom/matrix/types";
import { encryptingRegistration } from "../../../appservice/scene.ts";
import { KEY as RECOVERY_KEY } from "../../../encryption/identity/scene.ts";
import { Planted, seen } from "../planted.ts";

const { Client, DecryptionDispatcher, HTTPAPI, MemoryStore, SealedStore } = main;
const { Appservice } = appservices;
const { Bot, Composer, PolicyLists } = kit;

/** The classes that are exported, but for errors. */
function classes(): Map<string, unknown> {
  const all = [main, kit, appservices, kv, sqlite].flatMap((each) => Object.entries(each));
  return new Map(
    all.filter(([, value]) =>
      typeof value === "function" && String(value).startsWith("class") && !(value.prototype instanceof Error)
    ),
  );
}

/** What is seen of something by who also calls its getters. */
function looked(value: unknown): string {
  return [
    seen(value),
    Deno.inspect(value, { depth: 8, getters: true, iterableLimit: 10_000, strAbbreviateSize: 1e7 }),
    String(value),
  ].join("\n");
}

Deno.test("T135: no object of an exported class shows a secret, fresh, at work and closed", async () => {
  const planted = new Planted();
  const key = crypto.getRandomValues(new Uint8Array(32));
  const [as_token, hs_token, puppet] = ["as_token", "hs_token", "puppet's token"].map((name) =>
    planted.token(name)
  ) as [
    string,
    string,
    string,
  ];
  const secret = planted.text("wake secret");
  planted.add("recovery key", RECOVERY_KEY);
  planted.add("key of the store", key);
  const folder = await Deno.makeTempDir();
  const texts: string[] = [];
  const covered = new Set<unknown>();
  const objects: object[] = [];
  const note = <Noted extends object>(noted: Noted): Noted => {
    objects.push(noted);
    for (let each = Object.getPrototypeOf(noted); each !== null; each = Object.getPrototypeOf(each)) {
      covered.add(each.constructor);
    }
    return noted;
  };
  const look = (): void => void texts.push(...objects.map(looked));
  {
    const registration = { ...encryptingRegistration, as_token, hs_token };
    const encryption = { recoveryKey: RECOVERY_KEY };
    const inner = note(new MemoryStore());
    const store = note(await SealedStore.open(inner, key));
    await using _file = note(await sqlite.SqliteStore.open(`${folder}/a.sqlite`));
    await using _deno = note(await kv.KvStore.open(`${folder}/a.kv`));
    await using tester: BotTester = new BotTester(({ store: _, ...given }) => {
      const bot = note(new Bot({ ...given, store, encryption, wake: { secret } }));
      planted.add("access token", given.accessToken);
      bot.use(note(new Composer()));
      bot.command("look", async (c) => {
        note(c);
        await c.remind({ in: 1_000 }, { name: "later", data: 1 });
        note(await c.ask("What?"));
        note(bot.client);
        note(bot.in(c.roomId));
        note(c.room);
        note(bot.store);
        note(bot.client.api);
        note(bot.client.secretStorage);
        if (bot.client.crypto !== undefined) note(bot.client.crypto);
        const storage = note(await bot.client.secretStorage.open({ recoveryKey: RECOVERY_KEY }));
        look();
        storage[Symbol.dispose]();
        note(new PolicyLists());
        note(await c.reply("looked"));
      });
      bot.reminder("later", (c) => {
        note(c);
        return c.send("later");
      });
      return bot;
    });
    const room = await tester.room("alice");
    await room.say("!look");
    await room.expect("What?");
    await room.say("this");
    await room.expect("looked");
    await tester.pass(2_000);
    await room.expect("later");
    note(new DecryptionDispatcher(objects.find((each) => each instanceof Client) as main.Client));
    note(new HTTPAPI({ baseUrl: "https://a.example", accessToken: puppet, refreshToken: hs_token }));
    note(new Client({ baseUrl: "https://a.example", accessToken: puppet, encryption, wake: { secret } }));
    note(
      new Bot({
        baseUrl: "https://a.example",
        mxid: "@a:a.example",
        password: secret,
        encryption,
        log: false,
      }),
    );
    const { baseUrl, fetch } = tester.homeserver;
    const appservice = note(
      new Appservice({
        baseUrl,
        fetch,
        registration,
        serverName: "localhost",
        encryption,
        log: false,
        store: inner,
      }),
    );
    tester.homeserver.addAppservice(registration, appservice.fetch);
    note(appservice.botClient);
    note(appservice.intent("_echo_polly"));
    note(appservice.puppet(tester.userId("alice") as UserID, puppet));
    note(new Bot({ appservice }));
    await appservice.intent("_echo_polly").joinRoom(room.id).catch((error) => note(error));
    look();
    await appservice.close();
  }
  look();
  await Deno.remove(folder, { recursive: true });
  const missing = [...classes()].filter(([, each]) => !covered.has(each)).map(([name]) => name);
  assertEquals(missing, []);
  assert(texts.length > 50, `only ${texts.length} were seen`);
  assertEquals(planted.leaksIn(texts.join("\n")), []);
});
