import { Effect, type Scope } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import * as path from "node:path"

const main = path.resolve(import.meta.dirname, "../../../agent/src/main.ts")

export const token = `pwk_${"x".repeat(43)}`

export interface Command {
  readonly pid: number | undefined
  readonly output: () => string
  readonly kill: (signal: NodeJS.Signals) => void
  /** The exit code, or null if a signal ended the process. */
  readonly exited: Effect.Effect<number | null>
}

/** Starts the real command with these arguments and with exactly these environment variables. */
export const startCommand = Effect.fnUntraced(function* (
  words: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {}
): Effect.fn.Return<Command, never, Scope.Scope> {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [main, ...words], { env, stdio: ["ignore", "pipe", "pipe"] })
    ),
    (started) => Effect.sync(() => started.kill("SIGKILL"))
  )
  let text = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk) => {
      text += chunk
    })
  }
  const exit = once(child, "close").then(([code]: Array<number | null>) => code ?? null)
  return {
    pid: child.pid,
    output: () => text,
    kill: (signal) => void child.kill(signal),
    exited: Effect.promise(() => exit)
  }
})
