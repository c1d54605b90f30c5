import { enableCompileCache } from "node:module"
import { fileURLToPath } from "node:url"

/**
 * Beside what it was compiled from: whoever may write there may write the code, too, which is not so
 * of Node's own place in /tmp. Where the process may not write it does without: 0.3 s at each start.
 */
const cache = new URL("../../../node_modules/.cache/scheduling-service", import.meta.url)

enableCompileCache(fileURLToPath(cache))
await import("./launch.ts")
