import { once } from "node:events"
import { createServer, type IncomingHttpHeaders } from "node:http"

/**
 * Starts a server that records requests and sends a configured response. It stops when the process
 * exits.
 */
export const startReceiver = async () => {
  const answer = {
    status: 200,
    body: "ok",
    calls: [] as Array<IncomingHttpHeaders>,
    urls: [] as Array<string | undefined>
  }
  const server = createServer((request, response) => {
    answer.calls.push(request.headers)
    answer.urls.push(request.url)
    request.resume()
    response.writeHead(answer.status, { "content-type": "text/html" }).end(answer.body)
  })
  server.listen(0, "127.0.0.1").unref()
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return { answer, url: `http://127.0.0.1:${port}/alerts` }
}
