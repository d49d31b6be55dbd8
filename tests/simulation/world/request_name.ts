/** What a path asks for, whatever the room, the event and the transaction. */
export function requestName(pathname: string): string {
  return decodeURIComponent(pathname).replace("/_matrix/client/", "")
    .replace(/\/(send|sendToDevice)\/([^/]+)\/.*/, "/$1/$2").replaceAll(/[!$@][^/]*/g, "*");
}
