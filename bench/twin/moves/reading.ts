/** Sync, history, relations, receipts, search. */

import { type Login, type Move, type Person, v1, v3, type World } from "../world.ts";

/** Filters, as events know them. */
function eventFilter(world: World): object {
  return world.pick<object>(
    { limit: world.random.below(6) },
    { types: ["m.room.message"] },
    { types: ["m.room.*", "org.*"] },
    { types: [] },
    { not_types: ["m.room.member"] },
    { senders: [world.person().id] },
    { not_senders: [world.person().id] },
    { lazy_load_members: true },
    { lazy_load_members: true, include_redundant_members: true },
    { contains_url: world.flag() },
    { related_by_rel_types: ["m.annotation"] },
    { related_by_senders: [world.person().id] },
    { rooms: [world.pick(...world.rooms).id] },
    { not_rooms: [world.pick(...world.rooms).id] },
    { limit: 2, types: ["m.room.message"], not_senders: [world.person().id] },
  );
}

/** A filter of a sync. */
export function syncFilter(world: World): object {
  return world.pick<object>(
    { room: { timeline: eventFilter(world) } },
    { room: { timeline: eventFilter(world), state: eventFilter(world) } },
    { room: { state: { lazy_load_members: true }, timeline: { limit: 1 + world.random.below(4) } } },
    { room: { ephemeral: { types: [] }, account_data: { types: ["m.tag"] } } },
    { room: { rooms: [world.pick(...world.rooms).id] } },
    { room: { not_rooms: [world.pick(...world.rooms).id] } },
    { room: { include_leave: true } },
    { account_data: { types: [] }, presence: { types: [] } },
    { account_data: { not_types: ["m.push_rules"] } },
    { event_fields: world.pick(["type", "content.body", "event_id"], ["content"], ["sender"]) },
    { event_format: "client" },
    {},
  );
}

function sync(world: World): Move {
  const person = world.person();
  const login = world.login(person);
  const query: Record<string, string> = { set_presence: "offline", timeout: "0" };
  const since = world.random.chance(75)
    ? login.batches.at(-1)
    : world.random.chance(30)
    ? world.pick(...login.batches, "{{0.none}}")
    : undefined;
  if (since !== undefined) query.since = since;
  if (world.random.chance(35)) {
    query.filter = person.filters.length > 0 && world.random.chance(50)
      ? world.pick(...person.filters)
      : JSON.stringify(syncFilter(world));
  }
  if (world.random.chance(8)) query.full_state = "true";
  if (world.random.chance(8)) query["org.matrix.msc4222.use_state_after"] = "true";
  return syncOf(world, person, login, query);
}

/** A sync whose token and pages are kept. */
export function syncOf(_world: World, _person: Person, login: Login, query: Record<string, string>): Move {
  return {
    token: login.token,
    method: "GET",
    path: v3("sync"),
    query,
    done: (id) => void login.batches.push(`{{${id}.next_batch}}`),
  };
}

function messages(world: World): Move {
  const room = world.room();
  const by = world.who(room, "join", "leave");
  const query: Record<string, string> = { dir: world.pick("b", "b", "f") };
  if (world.random.chance(60)) query.limit = String(world.random.below(7));
  const batch = by.logins.flatMap(({ batches }) => batches).at(-1);
  const from = world.random.chance(50) ? room.pages.at(-1) : world.random.chance(50) ? batch : undefined;
  if (from !== undefined) query.from = from;
  if (world.random.chance(15) && batch !== undefined) query.to = batch;
  if (world.random.chance(30)) query.filter = JSON.stringify(eventFilter(world));
  return world.by(by, "GET", v3("rooms", room.id, "messages"), {
    query,
    done: (id) => void room.pages.push(`{{${id}.end}}`),
  });
}

function context(world: World): Move {
  const room = world.room();
  const query: Record<string, string> = {};
  if (world.random.chance(60)) query.limit = String(world.random.below(7));
  if (world.random.chance(30)) query.filter = JSON.stringify(eventFilter(world));
  const path = v3("rooms", room.id, "context", world.event(room));
  return world.by(world.who(room, "join", "leave"), "GET", path, {
    query,
    done: (id) => void room.pages.push(`{{${id}.${world.pick("start", "end")}}}`),
  });
}

function timestamp(world: World): Move {
  const room = world.room();
  const query = { ts: world.pick("0", "1", "99999999999999"), dir: world.pick("f", "b") };
  return world.by(world.member(room), "GET", v1("rooms", room.id, "timestamp_to_event"), { query });
}

function relations(world: World): Move {
  const room = world.room();
  const ends = world.pick([], ["m.annotation"], ["m.thread"], ["m.replace"], ["m.annotation", "m.reaction"], [
    "m.thread",
    "m.room.message",
  ]);
  const query: Record<string, string> = {};
  if (world.random.chance(40)) query.limit = String(world.random.below(4));
  if (world.random.chance(40)) query.dir = world.pick("f", "b");
  if (world.random.chance(25)) query.recurse = world.pick("true", "false");
  const event = world.event(room, ({ type }) => type === "m.room.message");
  return world.by(world.member(room), "GET", v1("rooms", room.id, "relations", event, ...ends), { query });
}

function threads(world: World): Move {
  const room = world.room();
  const query: Record<string, string> = {};
  if (world.random.chance(40)) query.limit = String(world.random.below(4));
  if (world.random.chance(40)) query.include = world.pick("all", "participated");
  return world.by(world.member(room), "GET", v1("rooms", room.id, "threads"), { query });
}

function receipt(world: World): Move {
  const room = world.room();
  const type = world.pick("m.read", "m.read", "m.read.private", "m.fully_read");
  return world.by(world.member(room), "POST", v3("rooms", room.id, "receipt", type, world.event(room)), {
    body: world.random.chance(30) ? { thread_id: world.pick("main", world.event(room), "") } : {},
  });
}

function markers(world: World): Move {
  const room = world.room();
  return world.by(world.member(room), "POST", v3("rooms", room.id, "read_markers"), {
    body: {
      "m.fully_read": world.maybe(70, () => world.event(room)),
      "m.read": world.maybe(50, () => world.event(room)),
      "m.read.private": world.maybe(20, () => world.event(room)),
    },
  });
}

function typing(world: World): Move {
  const room = world.room();
  const by = world.member(room);
  return world.by(
    by,
    "PUT",
    v3("rooms", room.id, "typing", world.random.chance(95) ? by.id : world.someone()),
    {
      body: world.pick<object>({ typing: true, timeout: 60_000 }, { typing: false }, { typing: true }),
    },
  );
}

function search(world: World): Move {
  const order_by = world.maybe(60, () => "recent");
  return world.by(world.person(), "POST", v3("search"), {
    body: {
      search_categories: {
        room_events: {
          search_term: world.pick("Hamlet", "play", "dagger", "topic", "nothing like it"),
          keys: world.maybe(20, () => world.pick(["content.body"], ["content.name", "content.topic"])),
          order_by,
          filter: world.maybe(25, () => eventFilter(world)),
          event_context: world.maybe(
            20,
            () => ({ before_limit: 1, after_limit: 1, include_profile: world.flag() }),
          ),
          include_state: world.maybe(10, () => true),
          groupings: world.maybe(15, () => ({ group_by: [{ key: world.pick("room_id", "sender") }] })),
        },
      },
    },
  });
}

/** The moves of this file, with how often each comes. */
export const readingMoves: readonly (readonly [number, (world: World) => Move])[] = [
  [30, sync],
  [12, messages],
  [6, context],
  [2, timestamp],
  [7, relations],
  [4, threads],
  [9, receipt],
  [5, markers],
  [4, typing],
  [3, search],
];
