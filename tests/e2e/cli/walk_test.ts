import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { Homeserver } from "@greenroom/matrix/testing";
import { Scene } from "../../operations/support/scene.ts";
import { synapseHost } from "../support/host.ts";
import { missing, newUser, synapseTest } from "../support/synapse.ts";
import { Desk, ping } from "./support/desk.ts";

const CTRL_C = "\x03";

synapseTest(
  "At a terminal, new, login and run lead to the first answer of a verified bot",
  async (server) => {
    await using scene = new Scene(synapseHost(server));
    await using desk = new Desk();
    const bot = await newUser(server, "bot");
    await desk.makeBot(bot.userId);
    await using login = desk.greenroom(["login", `--homeserver=${server.baseUrl}`]);
    await login.answer("The password of", `${bot.password}\r`);
    assertEquals(await login.ended(), 0, login.shown);
    assertStringIncludes(login.shown, "Its device is signed");
    assert(!login.shown.includes(bot.password));
    await using doctor = desk.greenroom(["doctor"]);
    assertEquals(await doctor.ended(), 0, doctor.shown);
    assert(!/^(?:error|warning)/m.test(doctor.shown), doctor.shown);
    await using run = desk.greenroom(["run"]);
    await run.expect("The bot has started");
    const user = await newUser(server, "alice");
    const alice = scene.client({
      ...{ accessToken: user.accessToken, mxid: user.userId, store: new MemoryStore() },
      encryption: {
        sendTo: "cross-signed",
        accept: "cross-signed",
        password: user.password,
        onRecoveryKey() {},
      },
    });
    assertEquals(await ping(alice, bot.userId), "**pong**");
    await run.type(CTRL_C);
    assertEquals(await run.ended(), 130, run.shown);
  },
);

/** The account of a bot on a homeserver in this process. */
async function account(): Promise<{ homeserver: Homeserver; url: string; devices: () => number }> {
  const homeserver = new Homeserver();
  homeserver.createUser("bot", { password: "correct horse" });
  const isLogin = ({ path, method, status }: { path: string; method: string; status?: number }) =>
    method === "POST" && path.endsWith("/login") && status === 200;
  const isLogout = ({ path }: { path: string }) => path.endsWith("/logout");
  const devices = () => {
    const requests = [...homeserver.requests];
    return requests.filter(isLogin).length - requests.filter(isLogout).length;
  };
  return { homeserver, url: await homeserver.listen(), devices };
}

Deno.test({
  name: "Ctrl-C at each prompt of new and login leaves nothing behind, and ends with 130",
  ignore: missing,
  async fn() {
    await using desk = new Desk();
    const { homeserver, url, devices } = await account();
    for (const answers of [[], ["bot\r"], ["bot\r", "@bot:localhost\r"]]) {
      await using made = desk.greenroom(["new"], desk.parent);
      const prompts = ["Which folder", "bot's user ID", "Your own user ID"];
      for (const [index, answer] of answers.entries()) await made.answer(prompts[index] ?? "", answer);
      await made.answer(prompts[answers.length] ?? "", CTRL_C);
      assertEquals([await made.ended(), [...Deno.readDirSync(desk.parent)]], [130, []], made.shown);
    }
    await desk.makeBot("@bot:localhost");
    const before = await Deno.readTextFile(`${desk.folder}/.env`);
    const left = () => [devices(), Deno.readTextFileSync(`${desk.folder}/.env`), [
      ...Deno.readDirSync(`${desk.folder}/data`),
    ]];
    await using first = desk.greenroom(["login", `--homeserver=${url}`]);
    await first.answer("The password of", CTRL_C);
    assertEquals([await first.ended(), ...left()], [130, 0, before, []], first.shown);
    await using login = desk.greenroom(["login", `--homeserver=${url}`]);
    await login.answer("The password of", "correct horse\r");
    assertEquals(await login.ended(), 0, login.shown);
    const key = await Deno.readTextFile(`${desk.folder}/data/recovery.key`);
    await Deno.remove(`${desk.folder}/data`, { recursive: true });
    await Deno.mkdir(`${desk.folder}/data`);
    await Deno.writeTextFile(`${desk.folder}/.env`, before);
    await using second = desk.greenroom(["login", `--homeserver=${url}`], undefined, 30);
    await second.answer("The password", "correct horse\r");
    for (const wrong of ["wrong", "EsTc", `${key.trim().slice(0, -1)}?`]) {
      await second.answer("has a recovery", `${wrong}\r`);
      await second.expect("Cannot ");
    }
    await second.answer("has a recovery", CTRL_C);
    assertEquals([await second.ended(), ...left()], [130, 1, before, []], second.shown);
    assert(!second.shown.includes("EsTc"), second.shown);
    await using third = desk.greenroom(["login", `--homeserver=${url}`]);
    await third.answer("The password", "correct horse\r");
    await third.answer("has a recovery", `${key.trim()}\r`);
    assertEquals(await third.ended(), 0, third.shown);
    assertStringIncludes(third.shown, "Its device is signed");
    assertEquals(await Deno.readTextFile(`${desk.folder}/data/recovery.key`), key);
    await homeserver.close();
  },
});
