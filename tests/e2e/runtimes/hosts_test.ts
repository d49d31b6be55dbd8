/** What a new bot has for Docker and systemd: its steps are taken as these take them. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { greenroom, Output, Place } from "../../cli/support/greenroom.ts";

const mustRun = Deno.env.get("CI") === "true";
const isThere = (program: string) =>
  new Deno.Command("which", { args: [program], stdout: "null" }).outputSync().success;
/** The user of the image that runs the bot. */
const USER = 1000;

async function run(command: string, args: readonly string[], options: Deno.CommandOptions = {}) {
  const { success, stdout, stderr } = await new Deno.Command(command, { args: [...args], ...options })
    .output();
  return { success, output: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

Deno.test({
  name: "systemd finds nothing wrong with the unit of a new bot, whatever its folder is called",
  ignore: !mustRun && !isThere("systemd-analyze"),
  async fn() {
    const parent = await Deno.makeTempDir({ prefix: "greenroom-unit-" });
    for (const name of ["bot", "my 100%n bot"]) {
      const made = await greenroom(["new", name], { cwd: parent });
      assertEquals(made.code, 0, made.stderr);
      const unit = `${parent}/${name}/bot.service`;
      const verify = () =>
        run("systemd-analyze", ["verify", "--user", "--man=no", unit], { env: { XDG_RUNTIME_DIR: parent } });
      assertEquals(await verify(), { success: true, output: "" });
      const text = await Deno.readTextFile(unit);
      await Deno.writeTextFile(unit, text.replace("ExecStart=", "ExecStart=/nowhere"));
      assert(!(await verify()).success);
    }
    await Deno.remove(parent, { recursive: true });
  },
});

Deno.test({
  name:
    "The steps of a new bot's Dockerfile make a folder in which its user runs the bot, and can change data alone",
  ignore: !mustRun && (Deno.uid() !== 0 || !isThere("setpriv")),
  async fn() {
    await using place = await Place.make();
    await place.makeLoggedInBot();
    const dockerfile = (await place.read("Dockerfile") ?? "").split("\n");
    const lines = (word: string) =>
      dockerfile.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
    const image = await Deno.makeTempDir({ prefix: "greenroom-image-" });
    const app = `${image}/app`;
    const ignored = (await place.read(".dockerignore") ?? "").split("\n").filter((line) => line !== "");
    const excluded = ignored.map((line) => `--exclude=./${line.replace(/\/$/, "")}`);
    const copy = `mkdir "$APP" && tar -c ${excluded.join(" ")} . | tar -x -C "$APP"`;
    const env = { APP: app, DENO_DIR: `${image}/deno-dir`, PATH: `${image}/bin:${Deno.env.get("PATH")}` };
    await Deno.mkdir(`${image}/bin`);
    await Deno.symlink(Deno.execPath(), `${image}/bin/deno`);
    assertEquals(await run("sh", ["-c", copy], { cwd: place.folder, env }), { success: true, output: "" });
    assert(![...Deno.readDirSync(app)].some(({ name }) => ignored.includes(name)));
    for (const command of lines("RUN")) {
      const { success, output } = await run("sh", ["-c", command.replace("chown deno", `chown ${USER}`)], {
        cwd: app,
        env,
      });
      assert(success, output);
    }
    const volume = `cp -r data/* "$APP/data" && chown -R ${USER} "$APP/data" && chmod 755 "$APP/.."`;
    assertEquals(await run("sh", ["-c", volume], { cwd: place.folder, env }), { success: true, output: "" });
    const settings = (await place.read(".env") ?? "").split("\n").filter((line) => /^\w+=/.test(line));
    const given = Object.fromEntries(settings.map((line) => line.split(/=(.*)/s)));
    const [command = "[]"] = lines("CMD");
    const bot = new Deno.Command("setpriv", {
      args: [`--reuid=${USER}`, `--regid=${USER}`, "--clear-groups", "deno", ...JSON.parse(command)],
      ...{ cwd: app, clearEnv: true, env: { ...env, ...given, NO_COLOR: "1", HOME: image } },
      ...{ stdout: "piped", stderr: "piped" } as const,
    }).spawn();
    const [said, failed] = [new Output(bot.stdout), new Response(bot.stderr).text()];
    await said.until(/The bot has started/).catch(async (error) => {
      throw new Error(await failed, { cause: error });
    });
    bot.kill("SIGTERM");
    assertEquals((await bot.status).code, 143);
    assertStringIncludes(await said.all, "The bot has ended");
    const owned = await run("find", [app, "-user", String(USER), "-not", "-path", `${app}/data*`]);
    assertEquals(owned.output, "");
    await Deno.remove(image, { recursive: true });
  },
});
