import { tellInProcess } from "./tell_in_process.ts";

tellInProcess("client", "encrypted");
