/**
 * Scopes in the npm package for browsers, which have no `AsyncLocalStorage`: esbuild turns `async` functions
 * into generators, and each keeps the scope in which it was called.
 *
 * @module
 */

import * as esbuild from "esbuild";
import { dirname, join, relative } from "node:path/posix";
import ts from "typescript";

/** Calls a function in the scope in which this was called: see `src/base/platform/browser.ts`. */
const KEPT = `var __kept = (call) => {
  if (typeof call !== "function") return call;
  const state = globalThis[Symbol.for("@greenroom/matrix scope")] ??= { frame: undefined }, { frame } = state;
  return (...given) => {
    const before = state.frame;
    state.frame = frame;
    try { return call(...given); } finally { state.frame = before; }
  };
};
`;

/**
 * What takes the place of esbuild's helpers. They differ in `__kept()` alone.
 */
const HELPERS = {
  __async: `var __async = (__this, __arguments, generator) => new Promise((resolve, reject) => {
  const go = (how) => __kept((value) => {
    try { step(generator[how](value)); } catch (error) { reject(error); }
  });
  const fulfilled = go("next"), rejected = go("throw");
  const step = (x) => x.done ? resolve(x.value) : Promise.resolve(x.value).then(fulfilled, rejected);
  step((generator = generator.apply(__this, __arguments)).next());
});
`,
  __asyncGenerator: `var __asyncGenerator = (__this, __arguments, generator) => {
  const resume = (k, v, yes, no) => {
    try {
      const x = generator[k](v), { done } = x, isAwait = (v = x.value) instanceof __await;
      Promise.resolve(isAwait ? v[0] : v).then(__kept((y) => isAwait ? resume(k === "return" ? k : "next", v[1] ? { done: y.done, value: y.value } : y, yes, no) : yes({ value: y, done }))).catch(__kept((e) => resume("throw", e, yes, no)));
    } catch (error) { no(error); }
  };
  let last;
  const it = {}, method = (k) => it[k] = (x) => {
    const call = new Promise((yes, no) => {
      const run = __kept(() => resume(k, x, yes, no));
      last ? last.then(run) : run();
    });
    const clear = () => mine === last && (last = undefined), mine = last = call.then(clear, clear);
    return call;
  };
  generator = generator.apply(__this, __arguments);
  it[Symbol.asyncIterator] = () => it;
  ["next", "throw", "return"].forEach(method);
  return it;
};
`,
} as const;

/** Has what is called when a promise settles keep its scope. */
function keepInCallbacks(code: string): string {
  const SETTLED = new Set(["then", "catch", "finally"]);
  const { factory } = ts;
  const keep = (node: ts.Expression) =>
    factory.createCallExpression(factory.createIdentifier("__kept"), undefined, [node]);
  const source = ts.createSourceFile("kept.js", code, ts.ScriptTarget.ESNext, undefined, ts.ScriptKind.JS);
  const { transformed } = ts.transform(source, [(context) => (file) => {
    const visit = (each: ts.Node): ts.Node => {
      const node = ts.visitEachChild(each, visit, context);
      if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return node;
      if (!SETTLED.has(node.expression.name.text)) return node;
      return factory.updateCallExpression(node, node.expression, undefined, node.arguments.map(keep));
    };
    return ts.visitNode(file, visit, ts.isSourceFile);
  }]);
  return transformed.map((each) => ts.createPrinter().printFile(each)).join("");
}

/** A helper of esbuild's, which stand before all else. Files differ in the names of its variables alone. */
const HELPER = /^var (__[a-zA-Z]+) = .*(?:;|\n(?: .*\n)*\}\)?;)\n/;

/** Has the `async` functions of a file, and what it gives to promises, keep their scope. */
async function kept(file: string): Promise<string> {
  let { code } = await esbuild.transform(keepInCallbacks(await Deno.readTextFile(file)), {
    format: "esm",
    target: "es2023",
    supported: { "async-await": false, "async-generator": false, "for-await": false },
  });
  for (const [name, helper] of Object.entries(HELPERS)) {
    const pattern = new RegExp(
      `^var ${name} = \\(__this, __arguments, generator\\) => \\{\\n[^]*?^};\\n`,
      "m",
    );
    if (code.includes(`${name}(`) && !pattern.test(code)) {
      throw new Error(`Cannot keep scopes in ${file}: esbuild's helpers have changed; see HELPERS`);
    }
    code = code.replace(pattern, () => helper);
  }
  return code;
}

/**
 * Has the `async` functions of files, and what they give to promises, keep their scope. The helpers are in a
 * file that all import.
 *
 * @param files The files, which are changed.
 * @param folder Where the file with the helpers is written.
 */
export async function keepScopes(files: readonly string[], folder: string): Promise<void> {
  const shared = join(folder, "scopes.js");
  const helpers = new Map([["__kept", KEPT]]);
  for (const file of files) {
    let code = await kept(file);
    const used = code.includes("__kept(") ? ["__kept"] : [];
    for (let found = HELPER.exec(code); found !== null; found = HELPER.exec(code)) {
      const [helper, name = ""] = found;
      if (!helpers.has(name)) helpers.set(name, helper);
      used.push(name);
      code = code.slice(helper.length);
    }
    const path = relative(dirname(file), shared);
    const from = path.startsWith(".") ? path : `./${path}`;
    if (used.length > 0) code = `import { ${used.join(", ")} } from "${from}";\n${code}`;
    await Deno.writeTextFile(file, code);
  }
  const names = `export { ${[...helpers.keys()].join(", ")} };\n`;
  await Deno.writeTextFile(shared, [...helpers.values(), names].join(""));
}
