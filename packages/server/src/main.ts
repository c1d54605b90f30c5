import { enableCompileCache } from "node:module"
import { fileURLToPath } from "node:url"

/**
 * The cache is beside the code: whoever may write there may write the code too. That is not true of
 * Node's default place in /tmp. If the process may not write here, each start takes 0.3 s longer.
 */
const cache = new URL("../../../node_modules/.cache/scheduling-service", import.meta.url)

enableCompileCache(fileURLToPath(cache))
await import("./launch.ts")
