/**
 * Which page of `docs/` has the options of which interface.
 *
 * @module
 */

import { type ExportedMember, exportedSymbols } from "./exported.ts";

/** The pages, by what they have the options of. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  "docs/reference/options.md": ["ClientOptions", "HTTPAPIOptions", "BotOptions"],
  "docs/bots/access.md": ["BotBehaviour", "AccessOptions"],
  "docs/bots/answers.md": ["WriteOptions"],
  "docs/bots/assistants.md": ["StreamOptions"],
  "docs/bots/commands.md": ["CommandOptions"],
  "docs/bots/conversations.md": [
    "AskOptions",
    "WaitOptions",
    "ConfirmOptions",
    "ConfirmWords",
    "MenuOptions",
  ],
  "docs/bots/media.md": ["ImageOptions", "FileOptions"],
  "docs/bots/reminders.md": ["EveryOptions"],
  "docs/bots/sessions.md": ["DefineSessionOptions"],
  "docs/client/custom_events.md": ["DefineEventOptions"],
  "docs/client/errors.md": ["RetryPolicy"],
  "docs/client/events.md": ["HandlerOptions", "StartOptions"],
  "docs/encryption/overview.md": ["EncryptionOptions", "EnsureVerifiedOptions"],
  "docs/encryption/verification.md": ["OwnerVerificationOptions"],
  "docs/hosts/deploy.md": ["WakeOptions", "RegisterWakeOptions", "SyncOnceOptions"],
  "docs/login.md": [
    "OAuthLoginOptions",
    "DeviceCodeLoginOptions",
    "AuthorizationCodeLoginOptions",
    "SsoLoginOptions",
    "AccountManagementOptions",
  ],
  "docs/stores.md": ["ClientLeaseOptions", "SqliteOptions", "KvOptions"],
  "docs/appservices.md": ["AppserviceOptions", "CreateRegistrationOptions"],
};

/** Options of tests. */
const LEFT_OUT = new Set(["clock"]);

/**
 * Options that are not on their page or have another default there,
 * and interfaces that are not there any more.
 */
export async function missingOptions(pages: ReadonlyMap<string, string>): Promise<string[]> {
  const symbols = await exportedSymbols();
  return Object.entries(PAGES).flatMap(([path, names]) =>
    names.flatMap((name) => {
      const members = symbols.find((symbol) => symbol.name === name && symbol.kind === "interface")?.members;
      if (members === undefined) return [`${path}: ${name} is not exported any more`];
      const options = members.filter(({ name, jsDoc }) =>
        !LEFT_OUT.has(name) && !name.startsWith("[") && !jsDoc?.tags?.some(({ kind }) => kind === "internal")
      );
      return options.flatMap((option) => {
        const problem = problemOf(pages.get(path) ?? "", option);
        return problem === undefined ? [] : [`${path}: ${problem} of ${option.name}, of ${name}`];
      });
    })
  );
}

function problemOf(page: string, { name, jsDoc }: ExportedMember): string | undefined {
  const named = new RegExp(`\`(?:\\w+\\.)?${name}\``);
  if (!named.test(page)) return "says nothing";
  const value = /Default:\s(`[^`]+`|\d+(?:,\d{3})*|true|false)(?![\w-])/.exec(jsDoc?.doc ?? "")?.[1];
  if (value === undefined) return undefined;
  const rows = page.split("\n").filter((line) => line.startsWith("|") && named.test(line));
  return rows.some((row) => row.includes(value)) ? undefined : `does not say the default ${value}`;
}
