import { KvStore } from "@greenroom/matrix/store/kv";

await KvStore.open(":memory:");
