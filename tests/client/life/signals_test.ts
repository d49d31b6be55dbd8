import { assert, assertEquals } from "@std/assert";
import { Homeserver } from "@greenroom/matrix/testing";
import { botStage } from "../support/bot_process.ts";

const NOTICED = "Closing, since a signal asks the process to end";
const signals = ["SIGINT", "SIGTERM"] as const;

for (const signal of signals) {
  Deno.test(`start({ signals: true }) waits for handlers at ${signal}, releases the device, and ends with its status`, async () => {
    await using stage = await botStage("SqliteStore");
    const bot = stage.start({ signals: true });
    await stage.alice.sendText(stage.room, "slow");
    await bot.says("heard", "slow");
    bot.send(signal);
    await bot.says("log", NOTICED);
    // Is not taken in any more, so that it can't be what lets "slow" be answered.
    await stage.alice.sendText(stage.room, "late");
    const again = stage.start({ signals: true });
    await again.says("log", "Waiting for a device");
    assertEquals(bot.said.filter(([kind]) => kind === "answered"), []);
    bot.send("SIGUSR1"); // stands for the end of what "slow" waits for
    const status = await bot.ended();
    assertEquals([status.signal, status.code], [null, signal === "SIGINT" ? 130 : 143]);
    assert(bot.said.some(([kind]) => kind === "answered"));
    assertEquals(bot.said.at(-1), ["stopped", "@bot:localhost"]); // what follows start()
    await again.says("answered", "late");
    assertEquals(await stage.count("slow, said @bot:localhost"), 1);
    assert(!again.said.some(([, text]) => text.startsWith("slow")));
  });
}

Deno.test("A program that has something else open is ended after a while, with the same status", async () => {
  await using stage = await botStage("SqliteStore");
  const bot = stage.start({ signals: true });
  await stage.alice.sendText(stage.room, "stay");
  await bot.says("answered", "stay");
  bot.send("SIGTERM");
  await bot.says("stopped", "@bot:localhost");
  assertEquals((await bot.ended()).code, 143);
});

Deno.test("A second signal ends a process immediately, and its handler is run again", async () => {
  await using stage = await botStage("SqliteStore");
  const bot = stage.start({ signals: true });
  await stage.alice.sendText(stage.room, "slow");
  await bot.says("heard", "slow");
  bot.send("SIGINT");
  await bot.says("log", NOTICED);
  bot.send("SIGINT");
  assertEquals((await bot.ended()).code, 130);
  assert(!bot.said.some(([kind]) => kind === "answered"));
  const again = stage.start();
  await again.says("heard", "slow");
});

Deno.test("All clients of a process are closed before a signal ends it", async () => {
  await using stage = await botStage("KvStore", ["one", "two"]);
  const bots = stage.start({ signals: true });
  await stage.alice.sendText(stage.room, "slow");
  for (const name of ["one", "two"]) await bots.says("heard", `slow by @${name}:localhost`);
  bots.send("SIGTERM");
  await bots.says("log", NOTICED);
  bots.send("SIGUSR1");
  assertEquals((await bots.ended()).code, 143);
  assertEquals(bots.said.filter(([, text]) => text === NOTICED).length, 2);
  const again = stage.start();
  await stage.alice.sendText(stage.room, "next");
  await again.says("answered", "next");
  assert(!again.hasWaited);
  for (const name of ["one", "two"]) assertEquals(await stage.count(`slow, said @${name}:localhost`), 1);
});

Deno.test("Without signals: true, a signal ends the process immediately", async () => {
  await using stage = await botStage("SqliteStore");
  const bot = stage.start();
  await stage.alice.sendText(stage.room, "slow");
  await bot.says("heard", "slow");
  bot.send("SIGINT");
  assertEquals((await bot.ended()).signal, "SIGINT");
  assert(!bot.said.some(([, text]) => text === NOTICED));
});

Deno.test("Signal listeners are removed when the clients have stopped", async () => {
  await using stage = await botStage("SqliteStore");
  const bot = stage.start({ signals: true });
  await stage.alice.sendText(stage.room, "stop");
  await bot.says("stopped", "@bot:localhost");
  bot.send("SIGTERM");
  assertEquals((await bot.ended()).signal, "SIGTERM");
  assert(!bot.said.some(([, text]) => text === NOTICED));
});

Deno.test("Under deno run --watch each save of a file closes the bot, and begins it again", async () => {
  await using homeserver = new Homeserver();
  const { accessToken: token } = homeserver.createUser("bot");
  const baseUrl = await homeserver.listen();
  const folder = await Deno.makeTempDir();
  try {
    const file = `${folder}/bot.ts`;
    const mod = new URL("../../../mod.ts", import.meta.url).href;
    const source = (version: number) =>
      `import { Client } from "${mod}";
      const bot = new Client({ baseUrl: "${baseUrl}", accessToken: "${token}", log: false });
      bot.ready.then(() => console.log("version ${version}"));
      await bot.start({ signals: true });`;
    await Deno.writeTextFile(file, source(1));
    const config = new URL("../../../deno.json", import.meta.url).pathname;
    const watcher = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-check", "-A", "--watch", "--no-clear-screen", "--config", config, file],
      stdout: "piped",
      stderr: "null",
    }).spawn();
    let version = 1;
    for await (const text of watcher.stdout.pipeThrough(new TextDecoderStream())) {
      if (!text.includes(`version ${version}`)) continue;
      if (version === 3) break;
      await Deno.writeTextFile(file, source(++version));
    }
    assertEquals(version, 3);
    watcher.kill("SIGKILL");
    await watcher.status;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

for (const kind of ["Bot", "Bot after bot", "Bot that waits for its homeserver", "Appservice"]) {
  Deno.test(`What follows start() runs when SIGTERM has closed a program: ${kind}`, async () => {
    await using homeserver = new Homeserver();
    const { accessToken } = homeserver.createUser("bot");
    const baseUrl = await homeserver.listen();
    const program = new URL("../support/ending_program.ts", import.meta.url).pathname;
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-check", "--quiet", "-A", program, kind, baseUrl, accessToken],
      stdout: "piped",
    }).spawn();
    let said = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      said += text;
      if (text.includes("started")) child.kill("SIGTERM");
    }
    assertEquals([said, (await child.status).code], ["started\nafter start(), with a free store\n", 143]);
  });
}
