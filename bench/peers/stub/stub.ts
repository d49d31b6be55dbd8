/**
 * The stub homeserver, a process of its own: gives every client the same bytes, encoded beforehand.
 *
 * `deno run stub.ts [--quick] [--seed=1]` prints its address in one line. A client's name says what
 * it is given: it begins with the name of a plan. Those whose names end with the same `-7of3`
 * are three that do their jobs in step.
 *
 * @module
 */

import type { PlanName } from "../inputs/plan.ts";
import { makeWorld, type StubClient, type World } from "../inputs/world.ts";
import { Step, StepGroup } from "./in_step.ts";
import { PacedSession } from "./paced_session.ts";

const SYNC = /^\/_matrix\/client\/(?:v3|r0)\/sync$/;
const USER = { user_id: "@me:example.org", device_id: "BENCH", is_guest: false };
const NO_RULES = { override: [], content: [], room: [], sender: [], underride: [] };

/** What is asked before the first sync, and said without a thought. */
const ANSWERS: readonly (readonly [RegExp, unknown])[] = [
  [/\/versions$/, { versions: ["v1.1", "v1.11", "v1.16"], unstable_features: {} }],
  [/\/account\/whoami$/, USER],
  [/\/pushrules\/?$/, { global: NO_RULES }],
  [/\/user\/[^/]+\/filter(?:\/\d+)?$/, { filter_id: "0" }],
  [/\/capabilities$/, { capabilities: {} }],
  [/\/joined_rooms$/, { joined_rooms: [] }],
  [/\/voip\/turnServer$/, {}],
  [/\/account_data\/m\.direct$/, {}],
  [/\/sendToDevice\//, {}],
];

const seed = Number(Deno.args.find((arg) => arg.startsWith("--seed="))?.slice(7) ?? 1);
const quick = Deno.args.includes("--quick");
const worlds = new Map<string, Promise<World>>();
const clients = new Map<string, StubClient>();
/** Those of which some are still to come. */
const groups = new Map<string, { readonly group: StepGroup; missing: number }>();

function worldOf(name: string): Promise<World> {
  const plan = name.split("-")[0] as PlanName;
  const made = worlds.get(plan) ?? makeWorld(plan, { quick, seed });
  worlds.set(plan, made);
  return made;
}

/** What keeps a client in step with the others of its group. */
function stepOf(name: string): Step | undefined {
  const [, key, size] = /-([^-]+)of(\d+)$/.exec(name) ?? [];
  if (key === undefined) return undefined;
  const found = groups.get(key) ?? { group: new StepGroup(Number(size)), missing: Number(size) };
  if (--found.missing === 0) groups.delete(key);
  else groups.set(key, found);
  return new Step(found.group);
}

async function clientOf(name: string): Promise<StubClient> {
  const world = await worldOf(name);
  const client = clients.get(name) ?? world.client(stepOf(name));
  clients.set(name, client);
  return client;
}

/** `no-transform`: a response that is packed would be another job. */
const headers = { "content-type": "application/json", "cache-control": "no-transform" };
const json = (value: unknown, status = 200) => new Response(JSON.stringify(value), { status, headers });

function nameOf(request: Request, url: URL): string {
  return request.headers.get("authorization")?.slice("Bearer ".length) ??
    url.searchParams.get("access_token") ?? "";
}

/**
 * What contestants and the bench ask: `/bench/<client>/jobs`, `…/room`, `…/sent`, `…/idle`,
 * `…/<number of a job>`, `…/pace/<messages a second>/<seconds>`, `…/forget`. And `/bench/jobs`: the jobs of
 * syncing.
 */
async function control(path: string): Promise<Response> {
  const [, , name = "", what = "", ...more] = path.split("/");
  if (name === "jobs") return json((await worldOf("play")).jobs.filter((job) => job.name !== "send"));
  if (what === "jobs") return json((await worldOf(name)).jobs);
  if (what === "forget") {
    const worked = clients.get(name)?.step?.worked ?? [];
    clients.delete(name);
    return json(worked);
  }
  const { session, sent, step, world } = await clientOf(name);
  step?.asked();
  if (what === "room") {
    if (step !== undefined) step.job = world.jobs.length - 1;
    return json(world.roomId);
  }
  if (what === "sent") return json(Object.fromEntries(sent));
  if (session instanceof PacedSession) {
    const [rate = NaN, seconds = NaN] = more.map(Number);
    return json(what === "idle" ? await session.greeted() : await session.pace(rate, seconds));
  }
  if (what !== "idle") {
    if (step !== undefined) step.job = Number(what);
    return json(await session.play(Number(what)));
  }
  await session.idle();
  await step?.ready();
  return json({});
}

type Handler = (client: StubClient, request: Request, match: RegExpExecArray) => unknown;

/** What depends on the client. */
const HANDLERS: readonly (readonly [RegExp, Handler])[] = [
  [
    /\/rooms\/([^/]+)\/send\/([^/]+)\/[^/]+$/,
    async ({ sent, session, step }, request, [, room = "", type = ""]) => {
      await request.arrayBuffer();
      await step?.turn();
      if (session instanceof PacedSession) session.answered(decodeURIComponent(room));
      const count = (sent.get(type) ?? 0) + 1;
      sent.set(type, count);
      return { event_id: `$sent${count}` };
    },
  ],
  [/\/rooms\/([^/]+)\/members$/, ({ world }, _, [, roomId = ""]) => {
    return { chunk: world.members(decodeURIComponent(roomId)) };
  }],
  [/\/rooms\/([^/]+)\/joined_members$/, ({ world }, _, [, roomId = ""]) => {
    const members = world.members(decodeURIComponent(roomId));
    return { joined: Object.fromEntries(members.map(({ state_key: userId }) => [userId, {}])) };
  }],
  [/\/keys\/upload(?:\/[^/]+)?$/, async ({ keys }, request) => keys.upload(await request.json())],
  [/\/keys\/query$/, async ({ keys }, request) => keys.query(await request.json())],
  [/\/keys\/claim$/, async ({ keys }, request) => keys.claim(await request.json())],
];

async function handle(request: Request): Promise<Response> {
  const url = new URL(request.url);
  const path = url.pathname;
  if (path.startsWith("/bench/")) return await control(path);
  const name = nameOf(request, url);
  const client = clients.get(name) ?? await clientOf(name);
  if (SYNC.test(path)) {
    const { searchParams } = url;
    const wait = Number(searchParams.get("timeout") ?? 0);
    client.step?.asked();
    const body = await client.session.sync(searchParams.get("since"), wait);
    await client.step?.turn();
    return new Response(body, { headers });
  }
  for (const [pattern, answer] of HANDLERS) {
    const match = pattern.exec(path);
    if (match !== null) return json(await answer(client, request, match));
  }
  const answer = ANSWERS.find(([pattern]) => pattern.test(path));
  if (answer !== undefined) return json(answer[1]);
  return json({ errcode: "M_NOT_FOUND", error: "Not here" }, 404);
}

await worldOf("play");
await worldOf("brief");
Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`),
}, handle);
