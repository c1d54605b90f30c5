/**
 * The program behind `npm run account`, `backup` and `audit:verify`. Sends the command to the running
 * server.
 */
import { Config, Effect } from "effect"
import { resolve } from "node:path"
import { askServer, socketIn } from "./operations/index.ts"

const [command = "", ...given] = process.argv.slice(2)

/** The server may run in another folder. */
const words = [command, ...(command === "backup" ? given.map((to) => resolve(to)) : given)]

const program = Effect.gen(function* () {
  const dataDir = yield* Config.NonEmptyString("DATA_DIR").pipe(Config.withDefault(".data"))
  return yield* Effect.tryPromise(() => askServer(dataDir, words)).pipe(
    Effect.catch(({ cause }) =>
      Effect.succeed({
        ok: false,
        text:
          `no server answers at ${socketIn(dataDir)}: ${cause instanceof Error ? cause.message : cause}\n` +
          "Start it first, and give this command the same DATA_DIR."
      })
    )
  )
})

const { ok, text } = await Effect.runPromise(program)
;(ok ? process.stdout : process.stderr).write(`${text}\n`)
process.exitCode = ok ? 0 : 1
