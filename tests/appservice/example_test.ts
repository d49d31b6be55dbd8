import { assertEquals } from "@std/assert";
import { createRegistration } from "@greenroom/matrix/appservice";
import { bridge } from "../../examples/appservice/bridge.ts";
import { clientStage, heard } from "../client/support/stage.ts";

Deno.test("examples/appservice bridges a room that is made when somebody asks for it", async () => {
  await using stage = clientStage();
  const { homeserver, clock, log } = stage;
  const registration = createRegistration({
    ...{ id: "toy", url: "https://toy.example", serverName: "localhost" },
    ...{ userPrefix: "toy_", aliasPrefix: "toy_" },
  });
  const said: string[] = [];
  const { baseUrl, fetch } = homeserver;
  const toy = bridge({ registration, serverName: "localhost", baseUrl, fetch, clock, log }, {
    say: (name, text) => void said.push(`${name}: ${text}`),
  });
  homeserver.addAppservice(registration, toy.appservice.fetch);
  const alice = stage.client("alice");
  const texts = heard(alice);
  const roomId = await alice.joinRoom(toy.alias);
  await toy.said("Ärger", "hello from the network");
  await alice.sendText(roomId, "hello from the room");
  await stage.until(() => said.length === 1);
  await alice.syncOnce();
  assertEquals(said, ["@alice:localhost: hello from the room"]);
  assertEquals(texts, ["hello from the network", "hello from the room"]);
  assertEquals(await alice.getDisplayname("@toy_=c3=84rger:localhost"), "Ärger");
  await toy.appservice.close();
});
