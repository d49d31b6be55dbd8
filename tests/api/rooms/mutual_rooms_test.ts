import { assertEquals, assertRejects } from "@std/assert";
import { mutualRoomsAPI } from "../../../src/api/rooms/rooms.ts";
import { ServiceResponseError } from "@greenroom/matrix/errors";
import { inTurn, type Rule, scripted } from "../../support/scripted_fetch.ts";

const [A, B, C] = ["!a:example.org", "!b:example.org", "!c:example.org"] as const;

function mutual(rule: Rule) {
  const { session, requests } = scripted({ "GET /_matrix/client/v1/mutual_rooms": rule });
  return { get: () => mutualRoomsAPI(session).getMutualRooms("@bob:b.org"), requests };
}

Deno.test("getMutualRooms() reads page after page", async () => {
  const { get, requests } = mutual(inTurn({ joined: [A, B], next_batch: "n1" }, { joined: [C] }));
  assertEquals(await get(), [A, B, C]);
  assertEquals(requests.map(({ query }) => query), [
    "user_id=%40bob%3Ab.org",
    "user_id=%40bob%3Ab.org&from=n1",
  ]);
});

Deno.test("getMutualRooms() names the token that a server repeats", async () => {
  const circle = mutual(inTurn(
    { joined: [A], next_batch: "n1" },
    { joined: [B], next_batch: "n2" },
    { joined: [C], next_batch: "n1" },
  ));
  await assertRejects(circle.get, ServiceResponseError, '"n1"');
  assertEquals(circle.requests.length, 3);
  const same = mutual({ joined: [A], next_batch: "n1" });
  await assertRejects(same.get, ServiceResponseError, '"n1"');
  assertEquals(same.requests.length, 2);
});

Deno.test("getMutualRooms() ends when pages do not", async () => {
  let page = 0;
  const { get, requests } = mutual(() => ({ joined: [], next_batch: `n${page++}` }));
  await assertRejects(get, ServiceResponseError, "more than 1,000 pages");
  assertEquals(requests.length, 1_000);
});
