/** Webhooks: a program that has a room's secret posts to it by HTTP. */

import { timingSafeEqual } from "node:crypto";
import {
  type Bot,
  defineSession,
  formatPieces,
  type FormattedMessage,
  formatText,
  splitMessage,
} from "@greenroom/matrix/bot";
import type { RoomID } from "@greenroom/matrix/types";
import type { Outbox } from "./outbox.ts";

/** Of a secret only the digest is kept: who reads the store can't post. */
export const HOOKS = defineSession({
  name: "feed.hooks",
  per: () => undefined,
  initial: () => ({ room: "" as RoomID | "", digest: "" }),
});
const MAX_BYTES = 16_384;
/** How long a body may take, in milliseconds. */
const TIMEOUT = 10_000;
/** The first part of a secret names the room's hook, the second one is secret. */
const ID = 16;
const PATH = /^\/hooks\/([\w-]{16})([\w-]{43})$/;

/** Adds the command, and answers requests below `/hooks/`; undefined: it is none of them. */
export function hooks(bot: Bot, outbox: Outbox, address: string) {
  bot.command("hook [action]", {
    description: "Shows how programs post to this room: `new` makes a new secret, `off` ends it",
    access: "admins",
  }, async (c) => {
    const id = await idOf(c.roomId);
    const isThere = (await c.getSession(HOOKS, id)).room !== "";
    const { action = "" } = c.args;
    if (action === "off") {
      await c.endSession(HOOKS, id);
      return await c.reply("Nobody posts to this room by a webhook now.");
    }
    if (action !== "new" && isThere) {
      return await c.reply("This room has a webhook. `!hook new` replaces its secret, `!hook off` ends it.");
    }
    // If a crash makes this run again, there is another secret, and the last one said is the right one.
    const secret = base64Url(crypto.getRandomValues(new Uint8Array(32)));
    Object.assign(await c.getSession(HOOKS, id), { room: c.roomId, digest: await digestOf(secret) });
    return await c.reply(
      `Post text, or JSON like \`{"text": "**Markdown**"}\`, to\n\n\`${address}/hooks/${id}${secret}\`\n\n` +
        "Who reads this can post here.",
    );
  });

  return async (request: Request): Promise<Response | undefined> => {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith("/hooks/")) return undefined;
    if (request.method !== "POST") return refusal(405, "Post something", { allow: "POST" });
    try {
      return await post(pathname, request);
    } catch (error) {
      bot.client.log.warn("A webhook's message could not be kept", { error });
      return refusal(503, "Try again later", { "retry-after": "60" });
    }
  };

  async function post(path: string, request: Request): Promise<Response> {
    const [, id = "", secret = ""] = PATH.exec(path) ?? [];
    const { room, digest } = await bot.client.sessions.read(HOOKS, id || "none") ?? { room: "", digest: "" };
    if (!isSame(await digestOf(secret), digest) || room === "") return refusal(404, "There is no such hook");
    const messages = await messagesOf(request);
    if (messages instanceof Response) return messages;
    if (await outbox.isFull(room)) return refusal(503, "Too much waits", { "retry-after": "60" });
    await bot.client.runTask(`hook ${crypto.randomUUID()}`, (context) => {
      outbox.add(context, room, () => messages);
    });
    // It is kept now. Where no process stays, it is said before the answer, if that goes quickly.
    const ended = new AbortController();
    const late = bot.client.api.clock.delay(TIMEOUT, { signal: ended.signal });
    const said = outbox.send().catch((error) => bot.client.log.warn("What waits was not said", { error }));
    await Promise.race([said, late]);
    ended.abort();
    await late.catch(() => {});
    return Response.json({ ok: true });
  }
}

/** What a request says, or why that can't be taken. Nobody is notified by it. */
async function messagesOf(request: Request): Promise<FormattedMessage[] | Response> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "text/plain";
  if (!["application/json", "text/plain"].includes(type)) return refusal(415, "Post text or JSON");
  const body = await bodyOf(request);
  if (body === undefined) return refusal(413, `Post at most ${MAX_BYTES} bytes, within ten seconds`);
  const text = type === "text/plain" ? body : textOfJson(body);
  if (text === undefined || text.trim() === "") return refusal(400, 'Post {"text": "…"}, or text');
  return type === "text/plain"
    ? splitMessage(text).map((piece) => formatText(piece))
    : await formatPieces(text, { links: false });
}

function textOfJson(body: string): string | undefined {
  try {
    const { text } = JSON.parse(body) ?? {};
    return typeof text === "string" ? text : undefined;
  } catch {
    return undefined;
  }
}

/** A body; undefined: it is too large, or does not end. */
async function bodyOf({ body }: Request): Promise<string | undefined> {
  if (body === null) return "";
  const reader = body.getReader();
  const timer = setTimeout(() => reader.cancel().catch(() => {}), TIMEOUT);
  const bytes = new Uint8Array(MAX_BYTES);
  const begun = Date.now();
  try {
    let size = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (size + value.length > MAX_BYTES) return undefined;
      bytes.set(value, size);
      size += value.length;
    }
    return Date.now() - begun < TIMEOUT ? new TextDecoder().decode(bytes.subarray(0, size)) : undefined;
  } finally {
    clearTimeout(timer);
    await reader.cancel().catch(() => {});
  }
}

/** Names the hook of a room. */
async function idOf(room: RoomID): Promise<string> {
  return (await digestOf(room)).slice(0, ID);
}

async function digestOf(text: string): Promise<string> {
  return base64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}

function base64Url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Whether two digests are the same, in a time that does not tell where they differ. */
function isSame(one: string, other: string): boolean {
  const [first, second] = [new TextEncoder().encode(one), new TextEncoder().encode(other)];
  return first.length === second.length && timingSafeEqual(first, second);
}

function refusal(status: number, error: string, headers: Record<string, string> = {}): Response {
  return Response.json({ error }, { status, headers });
}
