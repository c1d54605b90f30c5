import { enableCompileCache } from "node:module"
import { fileURLToPath } from "node:url"

/**
 * The compile cache is stored beside the code, because anybody who can write there can change the
 * code anyway. Node's default folder in /tmp is writable for everybody. If the process cannot write
 * here, each start takes 0.3 s longer.
 */
const cache = new URL("../../../node_modules/.cache/scheduling-service", import.meta.url)

enableCompileCache(fileURLToPath(cache))
await import("./launch.ts")
