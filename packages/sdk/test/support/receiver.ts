import { once } from "node:events"
import { createServer, type IncomingHttpHeaders } from "node:http"

export interface ReceivedRequest {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/**
 * Responds with 200 to all requests, and returns the first request as a user's handler would
 * receive it.
 */
export const startReceiver = async () => {
  const { promise: received, resolve } = Promise.withResolvers<ReceivedRequest>()
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      resolve({ headers: request.headers, body: Buffer.concat(chunks) })
      response.end()
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (typeof address !== "object" || address === null) throw new Error("The receiver has no port")
  return {
    url: `http://127.0.0.1:${address.port}/`,
    received,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
}
