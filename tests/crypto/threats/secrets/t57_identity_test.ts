/** Private keys of the own identity in logs, errors and objects that can be inspected. */

import { assert, assertEquals } from "@std/assert";
import { encodeBase64 } from "../../../../src/types/base64.ts";
import { RawDevice } from "../../engine/raw_device.ts";
import { ME, ownScene } from "../../identity/own_scene.ts";
import { Planted, seen } from "../planted.ts";

Deno.test("T57: no private key of the own identity, and no recovery key, is in a log, an error or what the engine shows", async () => {
  const told: unknown[] = [];
  const note = (...line: unknown[]) => void told.push(...line);
  const log = { debug: note, info: note, warn: note, error: note };
  const scene = await ownScene({ log });
  const { bot, server, identity, other } = scene;
  const { steps } = bot.engine;
  const planted = new Planted();
  const recoveryKey = planted.text("recovery key");
  const ask = async () => {
    await steps.askForIdentity();
    await bot.flush();
  };
  const plant = (seeds: typeof identity.seeds) => {
    for (const [name, seed] of Object.entries(seeds)) {
      planted.add(name, seed);
      planted.add(`${name}, in base64`, encodeBase64(seed));
    }
  };
  plant(identity.seeds);
  plant(other.seeds);
  const { seeds, ...made } = await steps.createIdentity({ recoveryKey });
  plant(seeds);
  const { recoveryKey: _, ...objects } = made;
  told.push(objects, await steps.ownIdentity());
  bot.failing = { when: "before", commits: 0 };
  await steps.createIdentity({ recoveryKey }).catch(note);
  bot.failing = undefined;
  await ask();
  told.push(await steps.offerIdentity(other.seeds), await steps.offerIdentity(identity.seeds));
  told.push(
    await steps.ownIdentity(),
    bot.engine,
    bot.engine.identity(),
    await steps.identityOf(ME),
  );
  const bad = { ...identity.seeds, master: new Uint8Array(3) };
  await steps.offerIdentity(bad).catch(note);
  server.identities.set(ME, other);
  await bot.sync({ deviceLists: { changed: [ME], left: [] } });
  told.push(bot.engine);
  assert(told.length > 8, `only ${told.length}`);
  assertEquals(planted.leaksIn(told.map(seen).join("\n")), []);
});

Deno.test("T57: no secret that another own device sends is in a log or an error, whether it counts or not", async () => {
  const told: unknown[] = [];
  const note = (...line: unknown[]) => void told.push(...line);
  const { bot, server, identity, other } = await ownScene({
    release: true,
    log: { debug: note, info: note, warn: note, error: note },
  });
  const { steps } = bot.engine;
  const tablet = new RawDevice(server, ME, "TABLET").publish();
  await bot.sync();
  await steps.signIdentity({ userId: ME, master: identity.master?.publicKey ?? "" });
  await bot.flush();
  await steps.requestSecrets({});
  await bot.flush();
  const asked = server.mailbox({ userId: ME, deviceId: "TABLET" }).toDevice
    .find(({ content }) => content.name === "m.cross_signing.master");
  const planted = new Planted();
  for (const seed of [other.seeds.master, identity.seeds.master]) {
    const secret = encodeBase64(seed);
    planted.add("master, in base64", secret);
    planted.add("master", seed);
    const content = { request_id: String(asked?.content.request_id), secret };
    await bot.sync({ toDevice: [tablet.message(bot, "m.secret.send", content)] });
  }
  assertEquals(
    (await steps.ownIdentity()).keys?.missing,
    ["selfSigning", "userSigning"],
    "the second counts",
  );
  assertEquals(planted.leaksIn([...told, bot.engine].map(seen).join("\n")), []);
});
