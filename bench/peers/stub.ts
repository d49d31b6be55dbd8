/**
 * The stub homeserver, a process of its own: gives every client the same bytes, encoded beforehand.
 *
 * `deno run stub.ts [--quick] [--seed=1]` prints its address in one line.
 *
 * @module
 */

import { makeInputs } from "./inputs.ts";
import { BRIEF, FULL, jobsOf, ONE_EVENT, QUICK } from "./plan.ts";
import { StubSession } from "./stub_session.ts";

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
  [/\/keys\/upload$/, { one_time_key_counts: { signed_curve25519: 50 } }],
  [/\/voip\/turnServer$/, {}],
  [/\/account_data\/m\.direct$/, {}],
];

const seed = Number(Deno.args.find((arg) => arg.startsWith("--seed="))?.slice(7) ?? 1);
const sizes = Deno.args.includes("--quick") ? QUICK : FULL;
const jobs = jobsOf(sizes);
const bodies = makeInputs(sizes, seed);
const brief = makeInputs(ONE_EVENT, seed);
const sessions = new Map<string, StubSession>();

function session(name: string): StubSession {
  const found = sessions.get(name) ??
    (name.startsWith(BRIEF) ? new StubSession(brief, [], brief.length) : new StubSession(bodies, jobs));
  sessions.set(name, found);
  return found;
}

/** `no-transform`: a response that is packed would be another job. */
const headers = { "content-type": "application/json", "cache-control": "no-transform" };
const json = (value: unknown, status = 200) => new Response(JSON.stringify(value), { status, headers });

function nameOf(request: Request, url: URL): string {
  return request.headers.get("authorization")?.slice("Bearer ".length) ??
    url.searchParams.get("access_token") ?? "";
}

/** `/bench/jobs`, `/bench/<client>/idle`, `/bench/<client>/<number of a job>`, `/bench/<client>/forget`. */
async function control(path: string): Promise<Response> {
  const [, , name = "", what = ""] = path.split("/");
  if (name === "jobs") return json(jobs);
  if (what === "forget") return json(sessions.delete(name));
  if (what !== "idle") return json(await session(name).play(Number(what)));
  await session(name).idle();
  return json({});
}

async function handle(request: Request): Promise<Response> {
  const url = new URL(request.url);
  if (SYNC.test(url.pathname)) {
    return new Response(await session(nameOf(request, url)).sync(url.searchParams.get("since")), { headers });
  }
  if (url.pathname.startsWith("/bench/")) return await control(url.pathname);
  const answer = ANSWERS.find(([path]) => path.test(url.pathname));
  if (answer !== undefined) return json(answer[1]);
  return json({ errcode: "M_NOT_FOUND", error: "Not here" }, 404);
}

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`),
}, handle);
