/**
 * `greenroom login`: a login of the bot's own, its store, its signed device, and `.env`.
 *
 * `.env` is written last: what is cut off before that is as if it had not begun, but for a recovery key, which is
 * kept before anything is published that needs it.
 *
 * @module
 */

import { dirname, join } from "node:path";
import { Client, type Crypto, isUserId } from "../../../mod.ts";
import { OwnIdentityError, SecretStorageError } from "../../../errors.ts";
import type { CryptoFindingCode, UserID, VerificationReport } from "../../../types.ts";
import { CancelledError, CliError, type Input, STATUS, type Terminal, UsageError } from "../io/mod.ts";
import {
  addressOf,
  ENV_FILE,
  openStore,
  readSettings,
  recoveryKeyOf,
  serverOf,
  type Settings,
  writePrivate,
  writeSettings,
} from "../project/mod.ts";

const STORE = join("data", "bot.db");
const RECOVERY_KEY_FILE = join("data", "recovery.key");
/** What the doctor finds of a device that nobody can encrypt for. */
const UNPUBLISHED: ReadonlySet<CryptoFindingCode> = new Set(["device-missing", "device-conflict"]);

/** Logs in. */
export async function run({ flags, values, terminal }: Input): Promise<void> {
  if (flags.has("password-stdin") && flags.has("token-stdin")) {
    throw new UsageError(
      "Cannot log in: --password-stdin and --token-stdin are both given; leave out one of them",
    );
  }
  const settings = await readSettings();
  if (!flags.has("again")) checkThatThereIsNone(settings);
  const given = values.user ?? settings.MATRIX_USER;
  const user = given === undefined && flags.has("token-stdin") ? undefined : await userId(given, terminal);
  const server = values.homeserver ?? settings.MATRIX_URL ?? serverOf(user ?? missingServer());
  const baseUrl = await addressOf(server);
  terminal.note(`The homeserver is ${baseUrl}`);
  const login = flags.has("token-stdin")
    ? await byToken(baseUrl, user, terminal)
    : await byPassword(baseUrl, user ?? "", flags.has("password-stdin"), terminal);
  await setUp(login, settings, terminal);
}

interface Login {
  readonly baseUrl: string;
  readonly user: UserID;
  readonly token: string;
  readonly deviceId: string | undefined;
  /** Undefined: the token was given. */
  readonly password: string | undefined;
}

/** Refuses a second login, which would leave the first one behind. */
function checkThatThereIsNone(
  { MATRIX_TOKEN: accessToken, MATRIX_USER, MATRIX_URL }: Settings,
): void {
  if (accessToken === undefined || (MATRIX_URL ?? MATRIX_USER) === undefined) return;
  throw new CliError(
    `Cannot log in: ${ENV_FILE} has a token already; look whether it works with greenroom doctor, or give --again, ` +
      "which makes a new device",
  );
}

async function userId(given: string | undefined, terminal: Terminal): Promise<string> {
  const check = (value: string) => isUserId(value) ? undefined : "A user ID looks like @bot:example.org";
  const user = given ?? await terminal.ask({
    message: "The bot's user ID?",
    otherwise: "give --user, or MATRIX_USER",
    placeholder: "@bot:example.org",
    check,
  });
  if (check(user) !== undefined) {
    throw new UsageError("Cannot log in: what is given is no user ID like @bot:example.org");
  }
  return user;
}

function missingServer(): never {
  throw new UsageError("Cannot log in: the homeserver is missing; give --user, or --homeserver");
}

async function byToken(baseUrl: string, user: string | undefined, terminal: Terminal): Promise<Login> {
  const token = await terminal.readLine("the access token");
  await using client = new Client({ baseUrl, accessToken: token, log: false, retry: { maxRetries: 1 } });
  const { user_id, device_id } = await client.whoami();
  if (user !== undefined && user !== user_id) {
    throw new CliError(
      `Cannot log in as ${user}: the token is that of ${user_id}; get one of ${user}`,
      STATUS.REFUSED,
    );
  }
  return { baseUrl, user: user_id, token, deviceId: device_id, password: undefined };
}

async function byPassword(baseUrl: string, user: string, piped: boolean, terminal: Terminal): Promise<Login> {
  await using client = new Client({ baseUrl, log: false, retry: { maxRetries: 1 } });
  await checkFlows(client, baseUrl);
  const password = piped
    ? await terminal.readLine("the password")
    : await terminal.askSecret({ message: `The password of ${user}?`, otherwise: "give --password-stdin" });
  const { user_id, access_token, device_id } = await client.login({
    identifier: user,
    password,
    deviceName: "Greenroom bot",
  });
  return { baseUrl, user: user_id, token: access_token, deviceId: device_id, password };
}

/** Says what there is where nobody logs in by a password. */
async function checkFlows(client: Client, baseUrl: string): Promise<void> {
  const flows = await client.getLoginFlows();
  if (flows.some(({ type }) => type === "m.login.password")) return;
  const providers = flows.flatMap(({ identity_providers }) => identity_providers ?? []).map(({ name }) =>
    name
  );
  const offered = flows.map(({ type }) => type).join(", ") || "nothing that it names";
  throw new CliError(
    `Cannot log in at ${baseUrl}: it takes no passwords, but ${offered}` +
      `${
        providers.length === 0 ? "" : ` (${providers.join(", ")})`
      }; log the bot in with another client, take the ` +
      "access token of that login, log out no more there, and hand it over: greenroom login --token-stdin",
    STATUS.REFUSED,
  );
}

/** Makes the store, has the device signed, and writes all down; what comes to nothing leaves nothing. */
async function setUp(login: Login, settings: Settings, terminal: Terminal): Promise<void> {
  const storePath = settings.MATRIX_STORE ?? STORE;
  const keyPath = settings.MATRIX_RECOVERY_KEY_FILE ?? RECOVERY_KEY_FILE;
  const more = settings.MATRIX_RECOVERY_KEY === undefined ? { MATRIX_RECOVERY_KEY_FILE: keyPath } : {};
  const interrupted = Promise.withResolvers<never>();
  const interrupt = () => interrupted.reject(new CancelledError());
  Deno.addSignalListener("SIGINT", interrupt); // between prompts: those take Ctrl-C themselves
  const isNew = await Deno.stat(storePath).then(() => false, () => true);
  try {
    for (const path of [storePath, keyPath]) {
      await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
    }
    const signing = { storePath, keyPath, settings: { ...settings, ...more } };
    const report = await Promise.race([signDevice(login, signing, terminal), interrupted.promise]);
    const { baseUrl, user, token } = login;
    await writeSettings({
      ...{ MATRIX_URL: baseUrl, MATRIX_USER: user, MATRIX_TOKEN: token, MATRIX_STORE: storePath },
      ...more,
    });
    tell(login, report, keyPath, terminal);
  } catch (error) {
    if (login.password !== undefined) await logOut(login);
    const files = isNew ? ["", "-wal", "-shm", "-journal", "-locks"].map((end) => `${storePath}${end}`) : [];
    for (const path of files) await Deno.remove(path, { recursive: true }).catch(() => undefined);
    throw error;
  } finally {
    Deno.removeSignalListener("SIGINT", interrupt);
  }
}

/** Logs out what was logged in just now. */
async function logOut({ baseUrl, token }: Login): Promise<void> {
  await using client = new Client({ baseUrl, accessToken: token, log: false, retry: { maxRetries: 1 } });
  await client.logout().catch(() => undefined);
}

interface Signing {
  readonly storePath: string;
  readonly keyPath: string;
  readonly settings: Settings;
}

/** Has the device signed: with the recovery key that there is, that is made, or that is typed. */
async function signDevice(login: Login, signing: Signing, terminal: Terminal): Promise<VerificationReport> {
  const { baseUrl, user: mxid, token: accessToken, deviceId, password } = login;
  const { storePath, keyPath, settings } = signing;
  await using store = await openStore(storePath);
  await using client = new Client({
    ...{ baseUrl, mxid, deviceId, accessToken, store, log: false },
    lease: { held: "refuse", owner: "greenroom login" },
    encryption: true,
  });
  const { crypto } = client;
  if (crypto === undefined) throw new CliError("Cannot have the device signed: there is no encryption");
  const recoveryKey = await recoveryKeyOf(settings);
  const report = await crypto.ensureVerified({
    ...recoveryKey === undefined ? {} : { recoveryKey },
    ...password === undefined ? {} : { password },
    onRecoveryKey: async (made) => {
      if (made !== recoveryKey) await writePrivate(keyPath, `${made}\n`);
    },
  });
  const signed = report.state === "needs-secret" && terminal.isInteractive
    ? await askRecoveryKey(crypto, keyPath, terminal) ?? report
    : report;
  const problem = (await crypto.doctor({})).find(({ code }) => UNPUBLISHED.has(code));
  if (problem === undefined) return signed;
  throw new CliError(
    `Cannot log in: the homeserver does not take the device's keys (${problem.code}); try again`,
    STATUS.REFUSED,
  );
}

/** Asks for the key of an identity that is there; undefined: the login goes on without. */
async function askRecoveryKey(
  crypto: Crypto,
  keyPath: string,
  terminal: Terminal,
): Promise<VerificationReport | undefined> {
  for (;;) {
    const typed = await terminal.askSecret({
      message: "The account has a recovery key, of Element for one. The recovery key? (Enter: go on without)",
      otherwise: `put it into ${keyPath}`,
      optional: true,
    });
    if (typed === "") return undefined;
    try {
      const report = await crypto.ensureVerified({ recoveryKey: typed });
      await writePrivate(keyPath, `${typed}\n`);
      return report;
    } catch (error) {
      if (!(error instanceof SecretStorageError || error instanceof OwnIdentityError)) throw error;
      terminal.note(error.message);
    }
  }
}

function tell(
  { user, deviceId }: Login,
  { state }: VerificationReport,
  keyPath: string,
  terminal: Terminal,
): void {
  terminal.note(`Logged in as ${user}, with the device ${deviceId}`);
  if (state === "bootstrapped") {
    terminal.note(
      `Its recovery key is in ${keyPath}: copy it to a safe place, it is the only way back to its keys`,
    );
  }
  if (state !== "needs-secret" && state !== "absent") {
    terminal.note("Its device is signed: Element shows its messages");
  } else {
    terminal.note(
      `Its device is not signed, so Element does not show its messages: put the account's recovery key into ` +
        `${keyPath}, and start the bot`,
    );
  }
  terminal.note(`Its token is in ${ENV_FILE}, which only you can read. Next: greenroom run`);
}
