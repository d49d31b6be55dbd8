import { tellPolling } from "./polling.ts";

tellPolling("client");
