import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs/promises"
import { InvalidConfig } from "../../core/index.ts"
import { isWellFormed } from "../api-keys/ApiKeySecret.ts"

/**
 * Writes an API key atomically to a file that only its owner can read. Replaces an existing file
 * only if that file contains an API key, which an earlier database or an interrupted start has left
 * behind.
 */
export const writeKeyFile = (file: string, key: string): Effect.Effect<void, InvalidConfig> =>
  Effect.tryPromise({
    try: async () => {
      const found = await fs.readFile(file, "utf8").catch((error: unknown) => {
        if (error instanceof Error && "code" in error && error.code === "ENOENT") return ""
        throw error
      })
      if (found !== "" && !isWellFormed(found.trimEnd())) {
        throw new Error("the file exists and contains something other than an API key")
      }
      const temporary = `${file}.${randomBytes(6).toString("hex")}`
      try {
        await fs.writeFile(temporary, `${key}\n`, { mode: 0o600, flag: "wx", flush: true })
        await fs.rename(temporary, file)
      } finally {
        await fs.rm(temporary, { force: true })
      }
    },
    catch: (cause) =>
      new InvalidConfig({
        message: `BOOTSTRAP_API_KEY_FILE: cannot write ${file}: ${cause instanceof Error ? cause.message : cause}`
      })
  })
