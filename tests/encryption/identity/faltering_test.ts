/** First starts while the server fails. */

import { assert, assertEquals } from "@std/assert";
import { type Client, MatrixError } from "@greenroom/matrix";
import { faltering, FALTERING_WAYS } from "../../support/faltering_fetch.ts";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { ticking } from "./crash_scene.ts";
import { device, KEY, shown } from "./scene.ts";

const ENCRYPTION = { recoveryKey: KEY, dehydratedDevice: true };

/** Starts a client's encryption, as far as it comes. */
async function started(here: ClientStage, { crypto }: Client): Promise<void> {
  assert(crypto);
  await ticking(here, crypto.start().then(() => crypto.idle()));
}

/** What must hold then: the device has everything, and so has the next one. */
async function check(here: ClientStage, bot: Client): Promise<void> {
  const report = await ticking(here, Promise.resolve(bot.crypto?.ensureVerified()));
  assertEquals([report?.state, report?.backup, report?.dehydratedDevice], ["verified", "on", "on"]);
  const next = await device(here, "NEXT", { encryption: ENCRYPTION });
  await next.crypto?.start();
  assertEquals(await next.crypto?.ensureVerified(), report);
  assertEquals((await next.crypto?.backup.info())?.version, "1", "one backup was made");
  const { signers } = await shown(next);
  assertEquals([signers.BOT?.length, signers.NEXT], [1, signers.BOT], JSON.stringify(signers));
  const found = await next.crypto?.doctor() ?? [];
  assertEquals(found.filter(({ level }) => level === "error"), []);
}

for (const way of FALTERING_WAYS) {
  Deno.test(`A first start with a recovery key comes to its end on a server that fails each request once: ${way}`, async () => {
    await using here = clientStage();
    const { fetch, failed } = faltering(here.homeserver.fetch, way);
    const bot = await device(here, "BOT", { fetch, retry: undefined, encryption: ENCRYPTION });
    await started(here, bot);
    await check(here, bot);
    assert(failed.size > 20, `only ${[...failed]}`);
  });
}

Deno.test("A first start that fails at any request, and is not to try again, is completed by a call after a second", async () => {
  const first = clientStage();
  const { fetch, failed } = faltering(first.homeserver.fetch, "503");
  await started(first, await device(first, "BOT", { fetch, retry: undefined, encryption: ENCRYPTION }));
  await first[Symbol.asyncDispose]();
  for (const name of failed) {
    await using here = clientStage();
    const only = (request: Request) => request.method === name.split(" ")[0] && isAlike(request.url, name);
    const { fetch } = faltering(here.homeserver.fetch, "502 when all is done", only);
    const bot = await device(here, "BOT", { fetch, encryption: ENCRYPTION });
    await started(here, bot).catch((error) => assert(error instanceof MatrixError, `${name}: ${error}`));
    await here.clock.tick(1_000); // so long a query that has failed is not repeated
    await started(here, bot);
    await check(here, bot);
  }
});

/** Whether a request is of the same kind; keys of the secret storage have names that are made up. */
function isAlike(url: string, name: string): boolean {
  const general = (text: string) => text.replace(/(m\.secret_storage\.key\.).*/, "$1");
  return general(decodeURIComponent(new URL(url).pathname)) === general(name.slice(name.indexOf(" ") + 1));
}
