/**
 * Silences the console for clients without an option for it, and adds what they expect of Node to versions
 * before 22; it is imported before them.
 *
 * @module
 */

for (const name of ["log", "info", "warn", "error", "debug", "trace"]) console[name] = () => {};

Promise.withResolvers ??= () => {
  const deferred = /** @type {any} */ ({});
  deferred.promise = new Promise((resolve, reject) => Object.assign(deferred, { resolve, reject }));
  return deferred;
};
