import { OutgoingCalls, CallConnectionLimits, SecureConnections } from "../../src/OutgoingCalls.ts"
import type { CallRequest } from "../../src/CallRequest.ts"
import type { ConnectionLimits } from "../../src/exchange/Connections.ts"
import { EgressAllow, Resolver } from "../../src/egress/Egress.ts"
import { tlsThreads } from "../../src/threads/tlsThreads.ts"
import { parseCidrs } from "../../src/egress/EgressRules.ts"
import type { ResolveHostName } from "../../src/egress/HostNames.ts"
import { Effect, Layer, Redacted, Result } from "effect"
import { createServer, type RequestListener } from "node:http"
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket
} from "node:net"

export const signingSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

export const callRequest = (url: string, fields: Partial<CallRequest> = {}): CallRequest => ({
  workspace_id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40",
  execution_id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41",
  attempt: 1,
  task: null,
  method: "POST",
  url,
  headers: {},
  body: null,
  timeout_seconds: 10,
  signing: { purpose: "call", secrets: [Redacted.make(signingSecret)] },
  ...fields
})

/** Provides the real service. Loopback is allowed unless `allow` is given. */
export const callLayer = (
  options: {
    readonly allow?: string
    readonly resolve?: ResolveHostName
    readonly limits?: Partial<ConnectionLimits>
    /** The number of threads for TLS connections. If omitted, this thread opens them. */
    readonly threads?: number
  } = {}
): Layer.Layer<OutgoingCalls> =>
  OutgoingCalls.layer.pipe(
    Layer.provide([
      Layer.succeed(
        EgressAllow,
        Result.getOrThrow(parseCidrs(options.allow ?? "127.0.0.0/8,::1/128"))
      ),
      Layer.succeed(Resolver, options.resolve ?? (async () => ["127.0.0.1"])),
      Layer.succeed(CallConnectionLimits, { perOrigin: 64, idle: 64, ...options.limits }),
      Layer.succeed(
        SecureConnections,
        options.threads === undefined ? undefined : tlsThreads(options.threads)
      )
    ])
  )

const listen = <S extends Server>(server: S, host: string) =>
  Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(0, host, () => {
        const { port } = server.address() as AddressInfo
        resume(Effect.succeed(port))
      })
    }),
    () =>
      Effect.sync(() => {
        server.close()
      })
  )

/**
 * Starts a server whose responses the test defines. Its sockets are closed at the end of the test.
 */
export const tcpTarget = (onConnection: (socket: Socket) => void, host = "127.0.0.1") =>
  Effect.suspend(() => {
    const sockets = new Set<Socket>()
    const server = createTcpServer((socket) => {
      sockets.add(socket)
      socket.on("error", () => {}).on("close", () => sockets.delete(socket))
      onConnection(socket)
    })
    return Effect.andThen(
      Effect.addFinalizer(() =>
        Effect.sync(() => {
          for (const socket of sockets) socket.destroy()
        })
      ),
      listen(server, host)
    )
  })

export const httpTarget = (listener: RequestListener, host = "127.0.0.1") =>
  Effect.suspend(() => {
    const server = createServer(listener)
    return Effect.andThen(
      Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections())),
      listen(server, host)
    )
  })

/** Responds to the first bytes of every connection with exactly this text. */
export const replyWith = (text: string) => (socket: Socket) => {
  socket.once("data", () => socket.write(text))
}
