import { assert, assertEquals } from "@std/assert";
import type { EngineRequest } from "../../../src/crypto/engine/engine.ts";
import type { JsonObject } from "@greenroom/matrix/types";
import { ME, type OwnScene, ownScene, shownSignature } from "../identity/own_scene.ts";

const MINUTE = 60_000, DAY = 24 * 60 * MINUTE;

/** Adopts the identity; what the server is to make of the signature can be said. */
async function adopted(scene: OwnScene, answer?: (request: EngineRequest) => JsonObject): Promise<OwnScene> {
  const { bot, server, identity } = scene;
  const before = server.answer.bind(server);
  server.answer = (from, request) =>
    answer !== undefined && request.kind === "signaturesUpload"
      ? (scene.requests.push(request.kind), answer(request))
      : before(from, request);
  await bot.engine.steps.askForIdentity();
  await bot.flush();
  await bot.engine.steps.offerIdentity(identity.seeds);
  await bot.flush();
  return scene;
}

function uploads({ requests }: OwnScene): number {
  return requests.filter((kind) => kind === "signaturesUpload").length;
}

Deno.test("the signature of a device that is published is uploaded once, until the server shows it", async () => {
  const scene = await adopted(await ownScene());
  assert(shownSignature(scene) !== undefined);
  assertEquals(
    shownSignature(scene),
    scene.bot.engine.identity().deviceKeys.signatures[ME]?.[
      `ed25519:${scene.identity.selfSigning?.publicKey}`
    ],
  );
  await scene.bot.restart();
  await scene.server.clock.tick(DAY);
  await scene.bot.sync();
  assertEquals(uploads(scene), 1);
});

Deno.test("a signature that the server has shown, and then lost, is uploaded again at once", async () => {
  const scene = await adopted(await ownScene());
  const { bot, server } = scene;
  assertEquals(uploads(scene), 1);
  await server.clock.tick(1);
  const { deviceKeys } = bot.engine.identity();
  const { [`ed25519:MINE`]: own = "" } = deviceKeys.signatures[ME] ?? {};
  server.show(bot, { ...deviceKeys, signatures: { [ME]: { "ed25519:MINE": own } } });
  await bot.sync();
  assertEquals(uploads(scene), 2);
});

Deno.test("a signature that never arrived is uploaded by the next process, the same bytes", async () => {
  const bodies: string[] = [];
  const scene = await adopted(await ownScene(), (request) => {
    bodies.push(JSON.stringify("signatures" in request && request.signatures));
    return { failures: {} };
  });
  await scene.bot.restart();
  assertEquals(bodies.length, 2);
  assertEquals(bodies[1], bodies[0]);
});

Deno.test("a server that never shows the signature is given it again after growing waits", async () => {
  const scene = await adopted(await ownScene(), () => ({ failures: {} }));
  const { bot, server } = scene;
  assertEquals(uploads(scene), 1);
  for (const [wait, count] of [[MINUTE - 1, 1], [1, 2], [MINUTE, 2], [MINUTE, 3], [MINUTE, 3]] as const) {
    await server.clock.tick(wait);
    await bot.sync();
    assertEquals(uploads(scene), count);
  }
});

Deno.test("a refusal of the signature in an answer of 200 is reported, and tried again later", async () => {
  const told: string[] = [];
  const log = {
    debug: () => {},
    info: () => {},
    error: () => {},
    warn: (text: string, facts?: unknown) => void told.push(`${text} ${JSON.stringify(facts)}`),
  };
  const failures = { [ME]: { MINE: { errcode: "M_INVALID_SIGNATURE", error: "no" } } };
  await adopted(await ownScene({ log }), () => ({ failures: {} }));
  assert(!told.some((text) => text.includes("refused")), told.join());
  const scene = await adopted(await ownScene({ log }), () => ({ failures }));
  assert(told.some((text) => text.includes("M_INVALID_SIGNATURE")), told.join());
  await scene.server.clock.tick(MINUTE);
  await scene.bot.sync();
  assertEquals(uploads(scene), 2);
});

Deno.test("a signature is not uploaded while the server does not have the device", async () => {
  const { bot, server } = await adopted(await ownScene(), () => ({ failures: {} }));
  await server.clock.tick(MINUTE);
  server.keys.get(ME)?.delete("MINE");
  await bot.engine.steps.askForIdentity();
  for (const query of await bot.engine.requests()) await bot.carry(query);
  const kinds = (await bot.engine.requests()).map(({ kind }) => kind);
  assertEquals(kinds, ["keysUpload"]);
});

Deno.test("a request that fails is repeated after a wait", async () => {
  const { bot, server, identity, requests } = await ownScene();
  await bot.engine.steps.askForIdentity();
  await bot.flush();
  await bot.engine.steps.offerIdentity(identity.seeds);
  let failed = 0;
  for (let batch = await bot.engine.requests(); batch.length > 0; batch = await bot.engine.requests()) {
    for (const request of batch) {
      if (request.kind !== "signaturesUpload") await bot.carry(request);
      else {
        failed++;
        await bot.engine.fail({ id: request.id, failure: { status: 502, errcode: undefined, message: "" } });
      }
    }
  }
  const count = () => requests.filter((kind) => kind === "signaturesUpload").length;
  assertEquals([failed, count()], [1, 0]);
  await server.clock.tick(MINUTE);
  await bot.sync();
  assertEquals(count(), 1);
});
