import { assertEquals } from "@std/assert";
import { keepNames } from "../../../tools/package/bundle.ts";

Deno.test("A class that the bundler renamed has its name in the published code, where the source map has it", () => {
  const bundled = `var Client = class _Client extends Base {
  static make = () => new _Client([..._Client.all, _ClientOptions, this._Client, this.#_Client]);
};
var _Other = class {
};
var Bot = class Bot2 {
  static make = () => new Bot2(Bot22, this.Bot2);
};
`;
  const published = `var Client = class  Client extends Base {
  static make = () => new  Client([... Client.all, _ClientOptions, this._Client, this.#_Client]);
};
var _Other = class {
};
var Bot = class Bot  {
  static make = () => new Bot (Bot22, this.Bot2);
};
`;
  assertEquals(keepNames(bundled), published);
});
