/**
 * `greenroom login`: a login of the bot's own, its store, its signed device, and `.env`.
 *
 * `.env` is written last: what is cut off before that is as if it had not begun, but for a recovery key,
 * which is kept before anything is published that needs it.
 *
 * @module
 */

import { mkdir, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { Client, type Crypto, isUserId, type Store } from "../../../mod.ts";
import { OwnIdentityError, SecretStorageError } from "../../../errors.ts";
import type { CryptoFindingCode, UserID, VerificationReport } from "../../../types.ts";
import {
  CancelledError,
  CliError,
  type Input,
  isThere,
  messageOf,
  statOf,
  STATUS,
  type Terminal,
  UsageError,
} from "../io/mod.ts";
import {
  addressOf,
  ENV_FILE,
  isLoggedIn,
  openStore,
  readSettings,
  recoveryKeyOf,
  refuseFromEnvironment,
  removeStore,
  serverOf,
  type Settings,
  writePrivate,
  writeSettings,
} from "../project/mod.ts";
import { byToken, byWhatIsOffered, type Login, putInPlace, tokensOfLogin, undo } from "./login_ways.ts";

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
  refuseFromEnvironment("MATRIX_USER", values.user ?? settings.MATRIX_USER);
  refuseFromEnvironment("MATRIX_URL", values.homeserver ?? settings.MATRIX_URL);
  if (flags.has("again")) refuseFromEnvironment("MATRIX_TOKEN");
  else if (await isLoggedIn(settings)) {
    throw new CliError(
      "Cannot log in: the bot is logged in already; look whether that works with greenroom doctor, or give --again, " +
        "which makes a new device",
    );
  }
  const given = values.user ?? settings.MATRIX_USER;
  const user = given === undefined && flags.has("token-stdin") ? undefined : await userId(given, terminal);
  const server = values.homeserver ?? settings.MATRIX_URL ?? serverOf(user ?? missingServer());
  const baseUrl = await addressOf(server);
  terminal.note(`The homeserver is ${baseUrl}`);
  const logIn = (store: Store, signal: AbortSignal) => {
    const place = { baseUrl, user, store, terminal, signal };
    return flags.has("token-stdin") ? byToken(place) : byWhatIsOffered(place, flags.has("password-stdin"));
  };
  await setUp(logIn, settings, terminal);
}

async function userId(given: string | undefined, terminal: Terminal): Promise<UserID> {
  const check = (value: string) => isUserId(value) ? undefined : "A user ID looks like @bot:example.org";
  const user = given ?? await terminal.ask({
    message: "The bot's user ID?",
    otherwise: "give --user, or MATRIX_USER",
    placeholder: "@bot:example.org",
    check,
  });
  if (isUserId(user)) return user;
  throw new UsageError("Cannot log in: what is given is no user ID like @bot:example.org");
}

function missingServer(): never {
  throw new UsageError("Cannot log in: the homeserver is missing; give --user, or --homeserver");
}

/**
 * Makes the store, logs in, has the device signed, and writes all down; what comes to nothing leaves nothing.
 */
async function setUp(
  logIn: (store: Store, signal: AbortSignal) => Promise<Login>,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const storePath = settings.MATRIX_STORE ?? STORE;
  const keyPath = settings.MATRIX_RECOVERY_KEY_FILE ?? RECOVERY_KEY_FILE;
  const isNew = await statOf(storePath) === undefined;
  let folders: readonly string[] = []; // inner ones first
  try {
    for (const folder of new Set([storePath, keyPath].map((path) => dirname(path)))) {
      folders = [...await missingFolders(folder), ...folders];
      await mkdir(folder, { recursive: true, mode: 0o700 });
    }
    await using store = await openStore(storePath, settings);
    await untilInterrupted(terminal, async (signal) => {
      const login = await logIn(store, signal);
      try {
        signal.throwIfAborted();
        const report = await signDevice(login, { store, keyPath, settings, signal }, terminal);
        signal.throwIfAborted();
        await keep(login, { store, storePath, keyPath, settings }, terminal);
        await tell(login, report, keyPath, terminal);
      } catch (error) {
        await undo(login);
        throw error;
      }
    });
  } catch (error) {
    // The error of the login is the one to report. A folder with something in it stays.
    if (isNew) await removeStore(storePath).catch(() => undefined);
    for (const folder of folders) await rmdir(folder).catch(() => undefined);
    throw error;
  }
}

/** The folders that a path needs and that are not there yet, inner ones first. */
async function missingFolders(path: string): Promise<string[]> {
  const outer = dirname(path);
  if (outer === path || await statOf(path) !== undefined) return []; // a drive may be missing too
  return [path, ...await missingFolders(outer)];
}

interface Keeping extends Pick<Signing, "store" | "keyPath" | "settings"> {
  readonly storePath: string;
}

/** Writes the login down, in place of the one before; a session of that is ended. */
async function keep(
  login: Login,
  { store, storePath, keyPath, settings }: Keeping,
  terminal: Terminal,
): Promise<void> {
  const { token, session, user } = login;
  const write = () =>
    writeSettings({
      ...{ MATRIX_URL: login.baseUrl, MATRIX_USER: user, MATRIX_STORE: storePath },
      ...token === undefined && settings.MATRIX_TOKEN === undefined ? {} : { MATRIX_TOKEN: token ?? "" },
      ...session === undefined ? {} : { MATRIX_PASSWORD: undefined },
      ...settings.MATRIX_RECOVERY_KEY === undefined ? { MATRIX_RECOVERY_KEY_FILE: keyPath } : {},
    });
  if (session === undefined) return await write();
  const before = await putInPlace({ session, store, user }, write);
  if (settings.MATRIX_PASSWORD !== undefined) {
    terminal.note(
      `MATRIX_PASSWORD is taken out of ${ENV_FILE}: the bot would use it in place of its session`,
    );
  }
  if (before === undefined || before.deviceId === login.deviceId) return;
  await before.logout().catch((error) => {
    terminal.note(
      `The device before, ${before.deviceId}, is still logged in: remove it in the account's settings`,
    );
    terminal.note(messageOf(error));
  });
}

/** Ends something by Ctrl-C in good order: between prompts, which take it themselves. */
async function untilInterrupted(
  terminal: Terminal,
  act: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const abort = new AbortController();
  const interrupt = () => {
    // The server may never answer what the first waits for.
    if (abort.signal.aborted) process.exit(STATUS.CANCELLED);
    terminal.note("Ending the login in good order; Ctrl-C again leaves at once");
    abort.abort(new CancelledError());
  };
  process.on("SIGINT", interrupt);
  try {
    await act(abort.signal);
  } catch (error) {
    throw abort.signal.aborted ? abort.signal.reason : error;
  } finally {
    process.off("SIGINT", interrupt);
  }
}

interface Signing {
  readonly store: Store;
  readonly keyPath: string;
  readonly settings: Settings;
  readonly signal: AbortSignal;
}

/** Has the device signed: with the recovery key that there is, that is made, or that is typed. */
async function signDevice(login: Login, signing: Signing, terminal: Terminal): Promise<VerificationReport> {
  const { deviceId, password } = login;
  const { store, keyPath, settings, signal } = signing;
  await using client = new Client({
    ...{ deviceId, ...await tokensOfLogin(login), store, log: false },
    fetch: (input, init) =>
      fetch(input, { ...init, signal: AbortSignal.any([signal, ...init?.signal ? [init.signal] : []]) }),
    lease: { held: "refuse", owner: "greenroom login" },
    encryption: true,
  });
  const { crypto } = client;
  if (crypto === undefined) throw new CliError("Cannot have the device signed: there is no encryption");
  const recoveryKey = await recoveryKeyOf({ MATRIX_RECOVERY_KEY_FILE: keyPath, ...settings });
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
    const answer = await terminal.askSecret({
      message: "The account has a recovery key, of Element for one. The recovery key? (Enter: go on without)",
      otherwise: `put it into ${keyPath}`,
      optional: true,
    });
    const typed = answer.trim();
    if (typed === "") return undefined;
    try {
      const report = await crypto.ensureVerified({ recoveryKey: typed });
      await writePrivate(keyPath, `${typed}\n`);
      return report;
    } catch (error) {
      if (!(error instanceof SecretStorageError || error instanceof OwnIdentityError)) throw error;
      terminal.note(messageOf(error));
    }
  }
}

async function tell(
  { user, deviceId, token }: Login,
  { state }: VerificationReport,
  keyPath: string,
  terminal: Terminal,
): Promise<void> {
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
  const where = token === undefined ? "session is in its store" : `token is in ${ENV_FILE}`;
  const next = await isThere("bot.ts") ? "greenroom run" : "greenroom chat <user>";
  terminal.note(`Its ${where}, which only you can read. Next: ${next}`);
}
