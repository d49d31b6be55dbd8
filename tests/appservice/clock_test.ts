import { assertEquals } from "@std/assert";
import { appserviceScene } from "./scene.ts";

Deno.test("A wrong clock is told once, however many users act and read", async () => {
  await using scene = await appserviceScene({ encryption: true, isServing: false });
  const { roomId, stage } = scene;
  const warned = () =>
    stage.log.lines.filter(([, message]) => message.includes("clock of this machine")).length;
  const serving = scene.serving = scene.instance({
    async fetch(input, init) {
      const response = await stage.homeserver.fetch(input, init);
      response.headers.set("date", new Date(stage.clock.now() + 3_600_000).toUTCString());
      return response;
    },
  });
  for (const name of ["_echo_polly", "_echo_parrot"]) await serving.intent(name).sendText(roomId, "here");
  await stage.settle();
  await serving.handlePending();
  assertEquals(warned(), 1);
});
