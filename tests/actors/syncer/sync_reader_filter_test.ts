import { assertEquals, assertRejects } from "@std/assert";
import type { SyncSettings } from "../../../src/actors/syncer/syncer.ts";
import { spawnStore } from "../../../src/actors/store/mod.ts";
import { SyncFilter } from "../../../src/actors/syncer/sync_reader.ts";
import { requestError } from "../../../src/errors/errcodes.ts";
import { MatrixRequestError } from "@greenroom/matrix/errors";
import type { Filter } from "@greenroom/matrix/types";
import { MemoryStore } from "../../../src/store/base/mod.ts";

async function stage(kv = new MemoryStore()) {
  const store = spawnStore({ kv });
  await store.open([]);
  const uploaded: Filter[] = [];
  const createFilter = (filter: Filter) => Promise.resolve(`f${uploaded.push(filter)}`);
  return {
    uploaded,
    filter: (settings: SyncSettings) => new SyncFilter(settings, { requests: { createFilter }, store }),
    [Symbol.asyncDispose]: () => store.stop(),
  };
}

const used = (filter: SyncFilter) => filter.use((id) => Promise.resolve(id));
const FILTER: Filter = { room: { timeline: { limit: 5 } } };

Deno.test("SyncFilter uses an ID as it is, and nothing without a filter", async () => {
  await using here = await stage();
  assertEquals(await used(here.filter({ filterData: "mine" })), "mine");
  assertEquals(await used(here.filter({})), undefined);
  assertEquals(await used(here.filter({ filterData: "mine", lazyLoadMembers: true })), "mine");
  assertEquals(here.uploaded, []);
});

Deno.test("SyncFilter uploads a filter once, and not again after a restart with the same store", async () => {
  const kv = new MemoryStore();
  {
    await using here = await stage(kv);
    const filter = here.filter({ filterData: FILTER });
    assertEquals([await used(filter), await used(filter)], ["f1", "f1"]);
    assertEquals(here.uploaded, [FILTER]);
  }
  await using later = await stage(kv);
  assertEquals(await used(later.filter({ filterData: structuredClone(FILTER) })), "f1");
  assertEquals(later.uploaded, []);
  assertEquals(await used(later.filter({ filterData: {} })), "f1");
  assertEquals(later.uploaded, [{}]);
});

Deno.test("SyncFilter asks the Store once, however often it is used", async () => {
  const kv = new MemoryStore();
  for (const uploaded of [[FILTER], []]) {
    const here = await stage(kv);
    const filter = here.filter({ filterData: FILTER });
    await used(filter);
    await here[Symbol.asyncDispose]();
    assertEquals([await used(filter), here.uploaded], ["f1", uploaded]);
  }
});

Deno.test("SyncFilter puts lazyLoadMembers into the filter, which stays as it was otherwise", async () => {
  await using here = await stage();
  await used(here.filter({ lazyLoadMembers: true }));
  await used(
    here.filter({ filterData: { room: { ...FILTER.room, state: { limit: 3 } } }, lazyLoadMembers: true }),
  );
  assertEquals(here.uploaded, [
    { room: { state: { lazy_load_members: true } } },
    { room: { timeline: { limit: 5 }, state: { limit: 3, lazy_load_members: true } } },
  ]);
});

Deno.test("SyncFilter uploads again what the server has forgotten, and asks once more", async () => {
  const kv = new MemoryStore();
  for (const status of [400, 404]) {
    await using here = await stage(kv);
    const filter = here.filter({ filterData: { room: { rooms: [`!${status}`] } } });
    await used(filter);
    const asked: unknown[] = [];
    const answer = await filter.use((id) => {
      asked.push(id);
      return id === "f1" ? Promise.reject(refused(status)) : Promise.resolve("done");
    });
    assertEquals([answer, asked, here.uploaded.length], ["done", ["f1", "f2"], 2]);
  }
});

Deno.test("SyncFilter hands on other refusals, and that of a filter it has just uploaded", async () => {
  await using here = await stage();
  const filter = here.filter({ filterData: FILTER });
  await assertRejects(() => filter.use(() => Promise.reject(refused(404))), MatrixRequestError);
  await assertRejects(() => filter.use(() => Promise.reject(refused(403))), MatrixRequestError);
  assertEquals(here.uploaded.length, 1);
});

Deno.test("SyncFilter.members says which members the filter lets through", async () => {
  await using here = await stage();
  const members = (settings: SyncSettings) => here.filter(settings).members;
  const room = (room: Filter["room"]) => members({ filterData: { room } });
  assertEquals(members({}), "all");
  assertEquals(members({ lazyLoadMembers: true }), "lazy");
  assertEquals(members({ filterData: "id" }), "some");
  assertEquals(members({ filterData: { event_fields: ["content"] } }), "some");
  assertEquals(members({ filterData: { presence: { types: [] } } }), "all");
  assertEquals(room({ timeline: { limit: 3 } }), "all");
  assertEquals(room({ state: { lazy_load_members: true } }), "lazy");
  for (
    const part of [{ types: ["m.room.name"] }, { not_types: ["m.*"] }, { senders: [] }, {
      contains_url: true,
    }]
  ) {
    assertEquals(room({ state: part }), "some");
    assertEquals(room({ timeline: part }), "some");
    assertEquals(room({ timeline: part, state: { lazy_load_members: true } }), "some");
  }
  assertEquals(room({ state: { limit: 3 } }), "some");
});

Deno.test("SyncFilter.timeline is the timeline's filter, whose limit counts for a response", async () => {
  await using here = await stage();
  const timeline = (filterData: SyncSettings["filterData"]) => here.filter({ filterData }).timeline;
  assertEquals(timeline({ room: { timeline: { limit: 3, types: ["m.a"] } } }), { types: ["m.a"] });
  assertEquals([timeline("id"), timeline(undefined), timeline({})], [undefined, undefined, undefined]);
});

function refused(status: number): Error {
  return requestError({
    operation: "sync",
    method: "GET",
    path: "/",
    status,
    body: { errcode: "M_INVALID_PARAM" },
  });
}
