/**
 * Makes a bot of the text that is typed into the page: `Bot.fromEnv()` finds the page's homeserver.
 *
 * @module
 */

import * as matrix from "@greenroom/matrix";
import * as kit from "@greenroom/matrix/bot";
import type { TestedBot, TestedBotOptions } from "@greenroom/matrix/testing";

/** The bot of one evaluation of the text: `Bot.fromEnv()` makes it, and `bot.start()` begins it. */
interface Evaluation {
  options: TestedBotOptions;
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

const MODULES = {
  "@greenroom/matrix": matrix,
  "@greenroom/matrix/bot": { ...kit, Bot: PlaygroundBot },
};
const SHARED = Symbol.for("@greenroom/matrix playground");
(globalThis as Record<symbol, unknown>)[SHARED] = MODULES;

function blobOf(text: string): string {
  return URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
}

/** Modules that hand on what is loaded already, for the text to import. */
const addresses = new Map(
  Object.entries(MODULES).map(([name, exported]) => {
    const shared = `globalThis[Symbol.for("@greenroom/matrix playground")][${JSON.stringify(name)}]`;
    return [
      name,
      blobOf(
        `export const { ${Object.keys(exported).join(", ")} } = ${shared};`,
      ),
    ];
  }),
);

/** Evaluates the text, up to `bot.start()`. */
async function evaluate(
  text: string,
  evaluation: Evaluation,
): Promise<kit.Bot> {
  const code = text.replaceAll(
    /(\bfrom\s*|\bimport\s*)(["'])([^"'\n]+)\2/g,
    (_, before: string, quote: string, name: string) => {
      const address = addresses.get(name);
      if (address === undefined) {
        throw new Error(
          `Only ${[...addresses.keys()].join(" and ")} can be imported here`,
        );
      }
      return before + quote + address + quote;
    },
  );
  const address = blobOf(code);
  current = evaluation;
  const running = import(address).then(() => {
    throw new Error(
      "The bot does not start: write await bot.start() at the end",
    );
  });
  try {
    return await Promise.race([evaluation.begun.promise, running]);
  } finally {
    running.catch(() => {}); // what comes later is of a bot that runs
    URL.revokeObjectURL(address);
  }
}

/** The bot as a tester starts and ends it; the text is evaluated with each start. */
export function testedBot(
  text: { now: string },
  options: TestedBotOptions,
): TestedBot {
  const evaluation = {
    options,
    begun: Promise.withResolvers<kit.Bot>(),
    ended: Promise.withResolvers<void>(),
  };
  let bot: kit.Bot | undefined;
  return {
    async start(startOptions) {
      bot = await evaluate(text.now, evaluation);
      await kit.Bot.prototype.start.call(bot, startOptions);
    },
    async close() {
      await bot?.close();
      evaluation.ended.resolve();
    },
  };
}
