/**
 * Stands in for the native library of matrix-bot-sdk, which would be downloaded from elsewhere when it is
 * installed: it can be loaded, and whatever is made of it throws. Nothing here encrypts with it.
 */

"use strict";

module.exports = new Proxy({}, {
  get(_target, name) {
    if (typeof name === "symbol" || name === "__esModule" || name === "default") return undefined;
    return class {
      constructor() {
        throw new Error(`Cannot use ${name}: it is a stand-in`);
      }
    };
  },
});
