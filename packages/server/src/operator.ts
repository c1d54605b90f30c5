/**
 * Sends a command to the running server: `npm run account`, `npm run backup`, `npm run
 * audit:verify` and `npm run audit:export`.
 */
import { Config, Effect } from "effect"
import { resolve } from "node:path"
import { sendCommand, controlSocketPath } from "./controlSocket.ts"

const [command = "", ...given] = process.argv.slice(2)

/**
 * The command and its arguments. A backup's folder is converted to an absolute path, because the
 * server's working directory can differ from this process's.
 */
const words = [command, ...(command === "backup" ? given.map((to) => resolve(to)) : given)]

const program = Effect.gen(function* () {
  const dataDir = yield* Config.NonEmptyString("DATA_DIR").pipe(Config.withDefault(".data"))
  return yield* Effect.tryPromise(() => sendCommand(dataDir, words)).pipe(
    Effect.catch(({ cause }) =>
      Effect.succeed({
        ok: false,
        text:
          `no server responds at ${controlSocketPath(dataDir)}: ${cause instanceof Error ? cause.message : cause}\n` +
          "Start the server first, and give this command the server's DATA_DIR."
      })
    )
  )
})

const { ok, text } = await Effect.runPromise(program)
;(ok ? process.stdout : process.stderr).write(`${text}\n`)
process.exitCode = ok ? 0 : 1
