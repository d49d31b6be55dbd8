/** What a process has left on its way, beside a verification that the next one calls off. */

import { assertEquals } from "@std/assert";
import { EngineScene } from "./engine_scene.ts";

for (const slow of ["outbound_session", "verification"]) {
  Deno.test(`what a process says of a verification takes the place of no event, if ${slow} is read last`, async () => {
    const scene = await EngineScene.open();
    const { bot, server } = scene;
    await bot.ready();
    await bot.restart(); // so that its first message is the event
    const { content, txnId } = await bot.encrypt("hello");
    await scene.asked();
    const list = bot.store.list.bind(bot.store);
    bot.store.list = async function* (prefix, options) {
      const turns = prefix[1] === slow ? 50 : 0;
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      yield* list(prefix, options);
    };
    const sent: unknown[] = [];
    const answer = server.answer.bind(server);
    server.answer = (from, request) => {
      if (request.kind === "roomEvent") sent.push([request.txnId, request.content]);
      return answer(from, request);
    };
    await bot.restart();
    assertEquals([sent, scene.steps.at(-1)], [[[txnId, content]], "cancel"]);
    await bot.restart();
    assertEquals([sent.length, (await Array.fromAsync(list(["crypto", "outbox"]))).length], [1, 0]);
  });
}
