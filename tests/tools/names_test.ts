import { assertEquals } from "@std/assert";
import { type ExportedMember, exportedSymbols } from "../../tools/docs/exported.ts";

/** What types have in capitals, as the contract's types do; and OAuth, whose name it is. */
const IN_TYPES = /OAuth|HTTPAPI|ContentURI|API(?![a-z])|ID(?![a-z])/g;

/** Constants, and names of JavaScript, of WebRTC and of registrations. */
const NOT_OURS = /^([A-Z][A-Z0-9_]*|toJSON|sdpMLineIndex|exclusive)$/;

Deno.test("Acronyms in exported names are words, but for ID, API and ContentURI in types", async () => {
  const wrong: string[] = [];
  for (const { name, members } of await exportedSymbols()) {
    const isType = /^[A-Z]/.test(name);
    if (isCrowded(isType ? name.replace(IN_TYPES, "Of") : name)) wrong.push(name);
    if (isType && /(?<!By)Id$|Api$/.test(name)) wrong.push(name);
    for (const member of members) if (isCrowded(member.name)) wrong.push(`${name}.${member.name}`);
  }
  assertEquals(wrong, []);
});

Deno.test("No exported name begins with a verb that another stands for", async () => {
  const wrong: string[] = [];
  for (const { name, members } of await exportedSymbols()) {
    for (const each of [name, ...members.map((member) => member.name)]) {
      if (/^(put|retrieve|lookup|destroy|modify)[A-Z]/.test(each)) wrong.push(`${name}.${each}`);
    }
  }
  assertEquals(wrong, []);
});

Deno.test("Exported booleans that can only be read begin with is, has, can or was", async () => {
  const wrong: string[] = [];
  for (const { name, members } of await exportedSymbols()) {
    for (const member of members) {
      if (isReadBoolean(member) && !/^((is|has|can|was)[A-Z]|\[)/.test(member.name)) {
        wrong.push(`${name}.${member.name}`);
      }
    }
  }
  assertEquals(wrong, []);
});

function isReadBoolean({ name, kind, readonly, optional, tsType, functionDef }: ExportedMember): boolean {
  if (NOT_OURS.test(name)) return false;
  if (kind === "getter") return functionDef?.returnType?.repr === "boolean";
  return readonly === true && optional !== true && tsType?.repr === "boolean";
}

/** Whether a name has capitals beside each other. */
function isCrowded(name: string): boolean {
  return /^\w+$/.test(name) && !NOT_OURS.test(name) && /[A-Z]{2}/.test(name);
}
