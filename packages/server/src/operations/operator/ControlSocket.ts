import { Effect, Layer } from "effect"
import * as fs from "node:fs"
import * as net from "node:net"
import { type ControlResponse, controlSocketPath } from "../../controlSocket.ts"
import { AppConfig, makeFolder } from "../../core/index.ts"
import { Operator } from "./Operator.ts"

/**
 * Receives the operator's commands on a socket that only the user of the process can open. The
 * running server executes the commands, because no other process can open the embedded store. If
 * the socket cannot be created, the server runs without it.
 */
export const ControlSocketLayer: Layer.Layer<
  never,
  never,
  AppConfig | Layer.Services<typeof Operator.layer>
> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { dataDir } = yield* AppConfig
    const operator = yield* Operator
    const file = controlSocketPath(dataDir)
    const run = Effect.runPromiseWith(yield* Effect.context<never>())

    const answerTo = (line: string): Promise<ControlResponse> =>
      run(
        Effect.suspend(() => operator.run(wordsIn(line))).pipe(
          Effect.map((text) => ({ ok: true, text })),
          Effect.catchTag("CommandRejected", ({ message }) =>
            Effect.succeed({ ok: false, text: message })
          ),
          Effect.catchCause((cause) =>
            Effect.as(Effect.logError("an operator's command failed", cause), {
              ok: false,
              text: "The command failed. The log of the server says why."
            })
          )
        )
      )

    const listen = Effect.tryPromise(async () => {
      if (await isAnswered(file)) throw new Error("another server is already using the socket")
      makeFolder(dataDir)
      fs.rmSync(file, { force: true })
      const server = net.createServer((socket) => serve(socket, answerTo))
      await listenOwnerOnly(server, file)
      return server
    })

    yield* Effect.acquireRelease(listen, (server) => Effect.sync(() => server.close())).pipe(
      Effect.catch(({ cause }) =>
        Effect.logWarning(
          `operator commands such as \`npm run account\` do not work, because the socket ${file} cannot be created: ${String(cause)}`
        )
      )
    )
  })
).pipe(Layer.provide(Operator.layer))

const maxLine = 4_096

const serve = (socket: net.Socket, answerTo: (line: string) => Promise<ControlResponse>) => {
  let text = ""
  socket.setEncoding("utf8")
  socket.setTimeout(10_000, () => socket.destroy())
  socket.on("error", () => socket.destroy())
  socket.on("data", async (chunk) => {
    text += chunk
    if (text.length > maxLine) socket.destroy()
    if (!text.endsWith("\n") || socket.destroyed) return
    socket.pause()
    socket.setTimeout(0)
    socket.end(JSON.stringify(await answerTo(text)))
  })
}

const wordsIn = (line: string): ReadonlyArray<string> => {
  const words: unknown = JSON.parse(line)
  return Array.isArray(words) ? words.map(String) : []
}

/** Binds the socket while the umask is set, so that other users can never connect. */
const listenOwnerOnly = (server: net.Server, file: string) =>
  new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    const mask = process.umask(0o177)
    try {
      server.listen(file, resolve)
    } finally {
      process.umask(mask)
    }
  })

/**
 * Returns whether a process listens on the socket. A killed process leaves its socket file behind.
 */
const isAnswered = (file: string) =>
  new Promise<boolean>((resolve) => {
    const socket = net.connect(file)
    socket.once("connect", () => {
      socket.destroy()
      resolve(true)
    })
    socket.once("error", () => resolve(false))
  })
