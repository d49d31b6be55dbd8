/** What a first sync has shown, when its keys come from the backup later. */

import { assertEquals } from "@std/assert";
import { ENCRYPTED } from "../../client/support/encrypted_room.ts";
import { clientStage } from "../../client/support/stage.ts";
import { device, history, KEY } from "./scene.ts";

Deno.test("What an ignored first sync has shown is not handled when its key comes from the backup", async () => {
  await using here = clientStage();
  const first = await device(here, "FIRST", { encryption: { recoveryKey: KEY } });
  await first.crypto?.start();
  const roomId = await first.createRoom({ initialState: ENCRYPTED });
  await first.sendText(roomId, "before");
  await first.crypto?.idle();
  for (const ignores of [true, false]) {
    const encryption = { recoveryKey: KEY, accept: "all" } as const; // also what only the backup proves
    const fresh = await device(here, `FRESH${ignores}`, { encryption });
    const heard: string[] = [];
    fresh.on("m.room.message", ({ content }) => void heard.push(content.body));
    const running = fresh.start({ ignoreInitialSync: ignores });
    await fresh.ready;
    await fresh.crypto?.idle();
    await here.settle();
    await first.sendText(roomId, `after ${ignores}`);
    await here.until(() => heard.includes(`after ${ignores}`));
    await fresh.crypto?.idle();
    await here.settle();
    assertEquals(heard.includes("before"), !ignores);
    assertEquals((await history(fresh, roomId))[0], "before by backup");
    await fresh.stop();
    await running;
  }
});
