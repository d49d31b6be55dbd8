/**
 * Silences the console, for who can't be told otherwise, and gives Node before 22 what they take for granted; it is imported before
 * them.
 *
 * @module
 */

for (const name of ["log", "info", "warn", "error", "debug", "trace"]) console[name] = () => {};

Promise.withResolvers ??= () => {
  const deferred = /** @type {any} */ ({});
  deferred.promise = new Promise((resolve, reject) => Object.assign(deferred, { resolve, reject }));
  return deferred;
};
