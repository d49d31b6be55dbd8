import { tellPolling } from "./polling.ts";

tellPolling("restarted");
