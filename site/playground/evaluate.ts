/**
 * Evaluates the text that is typed into the page: what it imports is what the page has loaded already,
 * and `Bot.fromEnv()` finds the page's homeserver. An error says at which line of the text it arose.
 *
 * @module
 */

import * as matrix from "@greenroom/matrix";
import * as kit from "@greenroom/matrix/bot";
import * as errors from "@greenroom/matrix/errors";
import type { TestedBot, TestedBotOptions } from "@greenroom/matrix/testing";
import type { Failures } from "./failures.ts";
import { placeOfMistake } from "./place_of_mistake.js";

/** One evaluation of the text. */
interface Evaluation {
  /** What bots of the text are made with. */
  options?: TestedBotOptions;
  begun: PromiseWithResolvers<kit.Bot>;
  ended: PromiseWithResolvers<void>;
}

/** What `new Bot()` of the text belongs to: evaluations begin one after the other. */
let current: Evaluation | undefined;

/** The kit's bot, which has the page in place of an environment. */
class PlaygroundBot extends kit.Bot {
  constructor(options: object = {}) {
    super({ ...options, ...current?.options } as unknown as kit.BotOptions);
  }

  static override fromEnv<C extends kit.Context = kit.Context>(
    options: object = {},
  ): kit.Bot<C> {
    return new PlaygroundBot(options) as unknown as kit.Bot<C>;
  }

  override start(): Promise<void> {
    current?.begun.resolve(this);
    return current?.ended.promise ?? Promise.resolve();
  }
}

const PACKAGE: Modules = {
  "@greenroom/matrix": matrix,
  "@greenroom/matrix/bot": { ...kit, Bot: PlaygroundBot },
  "@greenroom/matrix/errors": errors,
};
const SHARED = Symbol.for("@greenroom/matrix playground");

/** What a text may import, by name. */
type Modules = Record<string, Record<string, unknown>>;

function blobOf(text: string): string {
  return URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
}

/** Makes modules that hand on what is loaded already, for the text to import. */
function addressesOf(modules: Modules): Map<string, string> {
  (globalThis as Record<symbol, unknown>)[SHARED] = modules;
  return new Map(
    Object.entries(modules).map(([name, exported]) => {
      const shared = `globalThis[Symbol.for("@greenroom/matrix playground")][${JSON.stringify(name)}]`;
      return [name, blobOf(`export const { ${Object.keys(exported).join(", ")} } = ${shared};`)];
    }),
  );
}

/** Evaluates the text as a module. */
export async function evaluate(text: string, modules: Modules = {}): Promise<void> {
  const addresses = addressesOf({ ...PACKAGE, ...modules });
  const code = text.replaceAll(
    /(\bfrom\s*|\bimport\s*)(["'])([^"'\n]+)\2/g,
    (_all, before: string, quote: string, name: string, at: number) => {
      const address = addresses.get(name);
      if (address !== undefined) return before + quote + address + quote;
      const names = [...addresses.keys()];
      const last = names.pop();
      throw Object.assign(
        new TypeError(`Only ${names.join(", ")} and ${last} can be imported here`),
        { stack: `blob:text:${text.slice(0, at).split("\n").length}:1` },
      );
    },
  );
  const address = blobOf(code);
  try {
    await import(address);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const named = [...addresses].reduce(
      (said, [name, address]) => said.replace(`'${address}'`, name),
      error.message,
    );
    throw Object.assign(new SyntaxError(named), { stack: await placeOfMistake(address) });
  } finally {
    for (const each of [address, ...addresses.values()]) URL.revokeObjectURL(each);
  }
}

/** Evaluates the text of a bot, up to `bot.start()`. */
async function botOf(text: string, evaluation: Evaluation): Promise<kit.Bot> {
  current = evaluation;
  const running = evaluate(text).then(() => {
    throw new Error("The bot does not start: write await bot.start() at the end");
  });
  try {
    return await Promise.race([evaluation.begun.promise, running]);
  } finally {
    running.catch(() => {}); // what comes later is of a bot that runs
  }
}

/** The bot as a tester starts and ends it; the text is evaluated with each start. */
export function testedBot(
  text: { now: string; failures: Failures },
  options: TestedBotOptions,
): TestedBot {
  const evaluation = {
    options: { ...options, log: text.failures.noting(options.log) },
    begun: Promise.withResolvers<kit.Bot>(),
    ended: Promise.withResolvers<void>(),
  };
  let bot: kit.Bot | undefined;
  return {
    async start(startOptions) {
      bot = await botOf(text.now, evaluation);
      await kit.Bot.prototype.start.call(bot, startOptions);
    },
    async close() {
      await bot?.close();
      evaluation.ended.resolve();
    },
  };
}
