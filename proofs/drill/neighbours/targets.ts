import { once } from "node:events"
import { createServer } from "node:http"
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket
} from "node:net"

export interface Targets {
  readonly quick: string
  /** The URL of a target that responds after ten seconds. */
  readonly slow: string
  /** The URL of a target that accepts a request and never responds. */
  readonly hanging: string
  /** The URL of a target that sends interim (1xx) responses for as long as they are read. */
  readonly endless: string
}

const urlOf = async (server: Server): Promise<string> => {
  server.listen({ port: 0, host: "127.0.0.1", backlog: 4_096 })
  await once(server, "listening")
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const answering = (afterMs: number) =>
  createServer((request, response) => {
    request.resume()
    setTimeout(() => response.end("ok"), afterMs)
  })

const interim = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(500)

const flood = (socket: Socket) => {
  const more = () => {
    while (socket.writable && socket.write(interim));
  }
  socket.on("error", () => {}).on("drain", more)
  socket.once("data", more)
}

export const startTargets = async (): Promise<Targets> => ({
  quick: await urlOf(answering(0)),
  slow: await urlOf(answering(10_000)),
  hanging: await urlOf(createTcpServer((socket) => socket.on("error", () => {}).resume())),
  endless: await urlOf(createTcpServer(flood))
})
