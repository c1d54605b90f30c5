import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { RunnerOptions } from "../../../../src/engine/RunnerOptions.ts"

const script = new URL("./node.ts", import.meta.url).pathname

/** Starts a node as a separate process. The scope kills it. */
export const startNode = (
  databaseUrl: string,
  options: Partial<RunnerOptions> = {},
  nodeOptions: ReadonlyArray<string> = []
) =>
  Effect.acquireRelease(
    Effect.callback<ChildProcess>((resume) => {
      const child = spawn(process.execPath, [...nodeOptions, script], {
        env: {
          ...process.env,
          DATABASE_URL: databaseUrl,
          RUNNER_OPTIONS: JSON.stringify(options)
        },
        stdio: ["ignore", "pipe", "inherit"]
      })
      child.stdout.on("data", (chunk: Buffer) => {
        const text = chunk.toString()
        if (text.includes("ready")) resume(Effect.succeed(child))
        if (process.env["VERBOSE"] !== undefined) process.stderr.write(`[${child.pid}] ${text}`)
      })
      child.on("exit", (code) => resume(Effect.die(new Error(`the node ended with ${code}`))))
    }),
    (child) =>
      Effect.sync(() => {
        child.kill("SIGKILL")
      })
  )

export const waitForExit = (child: ChildProcess) =>
  Effect.callback<number | null>((resume) => {
    if (child.exitCode !== null) resume(Effect.succeed(child.exitCode))
    else child.on("exit", (code) => resume(Effect.succeed(code)))
  })

/**
 * Starts a server that counts each execution's calls by idempotency key. It responds after
 * `delayMs`.
 */
export const startSink = (delayMs: () => number) =>
  Effect.acquireRelease(
    Effect.callback<{
      readonly url: string
      readonly calls: Map<string, number>
      readonly open: () => number
      readonly close: () => void
    }>((resume) => {
      const calls = new Map<string, number>()
      let open = 0
      const server = createServer((request: IncomingMessage, response: ServerResponse) => {
        const id = String(request.headers["idempotency-key"])
        calls.set(id, (calls.get(id) ?? 0) + 1)
        open++
        response.on("close", () => open--)
        request.resume()
        setTimeout(() => response.end("ok"), delayMs())
      })
      server.keepAliveTimeout = 60_000
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        resume(
          Effect.succeed({
            url: `http://127.0.0.1:${port}/`,
            calls,
            open: () => open,
            close: () => {
              server.close()
              server.closeAllConnections()
            }
          })
        )
      })
    }),
    (sink) => Effect.sync(sink.close)
  )
