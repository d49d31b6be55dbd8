import { assert, assertEquals } from "@std/assert";
import { botStage, type FileStore } from "../support/bot_process.ts";

const stores: FileStore[] = ["SqliteStore", "KvStore"];
const ends: Deno.Signal[] = ["SIGKILL", "SIGTERM"];

for (const kind of stores) {
  for (const signal of ends) {
    Deno.test(`A bot with a ${kind} that ended by ${signal} goes on at once when it is started again`, async () => {
      await using stage = await botStage(kind);
      const one = stage.start();
      await stage.alice.sendText(stage.room, "one");
      await one.says("answered", "one");
      one.send(signal);
      assertEquals((await one.ended()).signal, signal);
      await stage.alice.sendText(stage.room, "two");
      const two = stage.start();
      await two.says("answered", "two");
      assert(!two.hasWaited);
      assertEquals([await stage.count("one, said @bot:localhost")], [1]);
    });
  }
}
