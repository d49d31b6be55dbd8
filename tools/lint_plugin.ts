/**
 * The house rules that a linter can check: for the product's own files (`mod.ts`, `types.ts` and `src/`), and
 * how wide the comments of all files are.
 *
 * @module
 */

const ROOT = new URL("../", import.meta.url).pathname;

/** Files that may look at the clock, wait or draw random numbers by themselves, and why. */
const AMBIENT_ALLOWED: Record<string, string> = {
  "src/base/clock.ts": "the clock that all others are given",
  "src/base/platform/browser.ts": "what that clock waits with",
  "src/base/platform/deno.ts": "what that clock waits with",
  "src/base/platform/node.ts": "what that clock waits with",
};

/** Files that may print, and why. */
const CONSOLE_ALLOWED: Record<string, string> = {
  "src/base/log.ts": "problems are visible, whatever the application has set up",
};

const AMBIENT_FUNCTIONS = new Set(["setTimeout", "setInterval"]);
const AMBIENT_METHODS = new Set(["Date.now", "Math.random"]);

/** The file's path from the repository's folder on. */
const pathOf = (context: Deno.lint.RuleContext) => context.filename.replace(ROOT, "");

/** A rule for the files of the product. */
function productRule(create: (context: Deno.lint.RuleContext) => Deno.lint.LintVisitor): Deno.lint.Rule {
  return {
    create: (context) => /^((?:mod|types|errors)\.ts$|src\/)/.test(pathOf(context)) ? create(context) : {},
  };
}

/**
 * `Date.now` as text, for an identifier with a plain property; `setTimeout` for an identifier
 * alone.
 */
function nameOf(node: Deno.lint.Expression | Deno.lint.Super): string {
  if (node.type === "Identifier") return node.name;
  if (node.type !== "MemberExpression" || node.object.type !== "Identifier") return "";
  return node.property.type === "Identifier" ? `${node.object.name}.${node.property.name}` : "";
}

/**
 * How a message begins and ends, as far as it is written down; `undefined` where it is computed.
 */
function messageEnds(node: Deno.lint.Node | undefined): { start?: string; end?: string } {
  if (node?.type === "Literal" && typeof node.value === "string") {
    return { start: node.value, end: node.value };
  }
  if (node?.type === "TemplateLiteral") {
    return { start: node.quasis[0]?.cooked, end: node.quasis.at(-1)?.cooked };
  }
  return {};
}

const errorMessage = productRule((context) => ({
  NewExpression(node) {
    if (!nameOf(node.callee).endsWith("Error")) return;
    const { start = "", end = "" } = messageEnds(node.arguments[0]);
    const message =
      "An error's message is a sentence without a full stop: `Cannot <action> <object>: <state>`";
    if (/^[^A-Z]/.test(start) || /[.!]$/.test(end)) context.report({ node, message });
  },
}));

const noPlainError = productRule((context) => {
  const check = (node: Deno.lint.NewExpression | Deno.lint.CallExpression) => {
    const message = "Use a class of `src/errors/`: callers decide by class and `code`";
    if (nameOf(node.callee) === "Error") context.report({ node, message });
  };
  return { NewExpression: check, CallExpression: check };
});

const noAmbient = productRule((context) => {
  if (pathOf(context) in AMBIENT_ALLOWED) return {};
  const report = (node: Deno.lint.Node, name: string) =>
    context.report({
      node,
      message: `\`${name}\` can't be controlled by a test: take a \`Clock\` or a function`,
    });
  return {
    CallExpression(node) {
      const name = nameOf(node.callee);
      if (AMBIENT_FUNCTIONS.has(name) || AMBIENT_METHODS.has(name)) report(node, name);
    },
    NewExpression(node) {
      if (nameOf(node.callee) === "Date" && node.arguments.length === 0) report(node, "new Date()");
    },
  };
});

const noConsole = productRule((context) => {
  if (pathOf(context) in CONSOLE_ALLOWED) return {};
  return {
    MemberExpression(node) {
      const message = "A library does not print: take a `Logger`";
      if (nameOf(node).startsWith("console.")) context.report({ node, message });
    },
  };
});

const noDefaultExport = productRule((context) => ({
  ExportDefaultDeclaration(node) {
    context.report({ node, message: "An export has a name" });
  },
}));

/** Methods of lists that take any number of arguments. */
const ADDING = new Set(["push", "unshift", "splice"]);

const noSpreadPush = productRule((context) => ({
  CallExpression(node) {
    const { callee } = node;
    if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return;
    if (!ADDING.has(callee.property.name)) return;
    if (!node.arguments.some(({ type }) => type === "SpreadElement")) return;
    const message = "A stack takes some 120,000 arguments, and others choose how many there are: " +
      "add them one by one, or use `concat()`";
    context.report({ node, message });
  },
}));

/** How wide a line of a comment may be: as code, for which the formatter sees to that. */
const MAX_COLUMNS = 110;

/** What can't be broken: addresses, directives, and commands that readers copy. */
const UNBREAKABLE = /https?:\/\/|deno-lint-ignore|deno run /;

const commentWidth: Deno.lint.Rule = {
  create: (context) => ({
    Program() {
      const { sourceCode } = context;
      for (const { range } of sourceCode.getAllComments()) {
        const start = sourceCode.text.lastIndexOf("\n", range[0]) + 1;
        let [at, isSample] = [start, false];
        for (const line of sourceCode.text.slice(start, range[1]).split("\n")) {
          if (/^ *\* *```/.test(line)) isSample = !isSample;
          const message = `A comment ends by column ${MAX_COLUMNS}, as code does: wrap it, or put it above`;
          if (!isSample && [...line].length > MAX_COLUMNS && !UNBREAKABLE.test(line)) {
            context.report({ range: [at, at + line.length], message });
          }
          at += line.length + 1;
        }
      }
    },
  }),
};

const plugin: Deno.lint.Plugin = {
  name: "greenroom",
  rules: {
    "comment-width": commentWidth,
    "error-message": errorMessage,
    "no-ambient": noAmbient,
    "no-console": noConsole,
    "no-default-export": noDefaultExport,
    "no-plain-error": noPlainError,
    "no-spread-push": noSpreadPush,
  },
};

export default plugin;
