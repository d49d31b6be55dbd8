import { assert, assertEquals } from "@std/assert";
import { Homeserver } from "@greenroom/matrix/testing";

const EXAMPLE = new URL("../../../examples/ping.ts", import.meta.url);
const PAGES = ["README.md", "docs/start.md"].map((path) => new URL(`../../../${path}`, import.meta.url));

/** The lines that do something. */
function code(text: string): string[] {
  return text.split("\n").map((line) => line.replace(/\s*\/\/ .*$/, "")).filter((line) => line !== "");
}

Deno.test("The bot of README and of the first page of docs/ has four lines, and is the one in examples/ping.ts", async () => {
  const lines = code(await Deno.readTextFile(EXAMPLE));
  assertEquals(lines.length, 4);
  for (const page of PAGES) {
    assert(code(await Deno.readTextFile(page)).join("\n").includes(lines.join("\n")), page.pathname);
  }
});

Deno.test("examples/ping.ts answers, with no other permission than the homeserver's address and the environment", async () => {
  await using homeserver = new Homeserver();
  const { accessToken: MATRIX_TOKEN, userId } = homeserver.createUser("bot");
  const alice = homeserver.createUser("alice");
  const MATRIX_URL = await homeserver.listen();
  await using bot = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", `--allow-net=${new URL(MATRIX_URL).host}`, "--allow-env", EXAMPLE.pathname],
    env: { MATRIX_URL, MATRIX_TOKEN, MATRIX_LOG: "json", NO_COLOR: "1" },
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const request = async (method: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${alice.accessToken}` };
    const response = await fetch(`${MATRIX_URL}/_matrix/client/v3${path}`, {
      method,
      headers,
      body: JSON.stringify(body),
    });
    return await response.json();
  };
  const { room_id } = await request("POST", "/createRoom", { invite: [userId], is_direct: true });
  const room = homeserver.room(room_id);
  const own = () => room.messages.filter(({ sender }) => sender === userId);
  while (room.membership(userId) !== "join") await request("POST", "/nothing", {});
  await request("PUT", `/rooms/${encodeURIComponent(room_id)}/send/m.room.message/1`, {
    msgtype: "m.text",
    body: "ping",
  });
  while (own().length === 0) await request("POST", "/nothing", {}); // a round trip
  const content: Record<string, unknown> = own()[0]?.content ?? {};
  assertEquals([content.body, content.formatted_body, content.msgtype], [
    "**pong**",
    "<strong>pong</strong>",
    "m.notice",
  ]);
  bot.kill("SIGTERM");
  const { stdout } = await bot.output();
  const log = new TextDecoder().decode(stdout).trim().split("\n").map((line) => JSON.parse(line));
  const lives = log.filter(({ message }) => message.startsWith("The bot has"));
  assertEquals(lives.map(({ level, message, user }) => [level, message, user]), [
    ["info", "The bot has started, and runs until Ctrl-C or bot.stop()", userId],
    ["info", "The bot has ended", userId],
  ]);
});
