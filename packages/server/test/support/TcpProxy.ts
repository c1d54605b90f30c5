import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"
import { listening } from "./ServerProcess.ts"

/** What happens to open connections when a network that was cut is restored. */
export type AfterCut = "go on" | "are reset" | "stay lost"

/**
 * Starts a proxy in front of the server at a URL. The proxy can be cut or moved to another server.
 */
export const startTcpProxy = Effect.fnUntraced(function* (serverUrl: string) {
  let target = new URL(serverUrl)
  let isCut = false
  const links = new Set<Link>()
  const sockets = new Set<Socket>()

  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    const upstream = isCut ? undefined : connect(Number(target.port || 5432), target.hostname)
    const link: Link = { client, upstream }
    links.add(link)
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client]
    ]) {
      if (socket === undefined) continue
      sockets.add(socket)
      socket
        .setNoDelay()
        .on("error", () => {})
        .on("close", () => {
          sockets.delete(socket)
          if (!links.has(link) || isCut) return
          links.delete(link)
          other?.destroy()
        })
    }
    if (upstream !== undefined) join(client, upstream)
  })
  const port = yield* listening(server)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      server.close()
      for (const socket of sockets) socket.destroy()
    })
  )

  const proxied = new URL(serverUrl)
  proxied.host = `127.0.0.1:${port}`

  return {
    url: proxied.href,
    /** Drops all data in both directions, without informing either side. */
    cut: Effect.sync(() => {
      isCut = true
      for (const { client, upstream } of links) {
        for (const socket of [client, upstream]) socket?.unpipe().pause()
      }
    }),
    heal: (caught: AfterCut) =>
      Effect.sync(() => {
        isCut = false
        for (const link of links) {
          const { client, upstream } = link
          if (caught === "stay lost") links.delete(link)
          else if (caught === "go on" && upstream !== undefined) join(client, upstream)
          else for (const socket of [client, upstream]) socket?.resetAndDestroy()
        }
      }),
    /**
     * Moves the address to another server. New connections go to the new server, and connections to
     * the old server are reset.
     */
    leadTo: (newServerUrl: string) =>
      Effect.sync(() => {
        target = new URL(newServerUrl)
        for (const { client } of links) client.resetAndDestroy()
      })
  }
})

interface Link {
  readonly client: Socket
  /** Undefined if the network was cut before the connection was established. */
  readonly upstream: Socket | undefined
}

const join = (client: Socket, upstream: Socket) => {
  client.pipe(upstream)
  upstream.pipe(client)
}
