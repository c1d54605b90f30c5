import { createSocket } from "node:dgram"
import { once } from "node:events"

/**
 * Starts a name server that answers every query with one IPv4 address. Returns its own address. It
 * stops when the process exits.
 */
export const startNameServer = async (ip: string): Promise<string> => {
  const socket = createSocket("udp4")
  socket.on("message", (query, { address, port }) => {
    const endOfQuestion = query.indexOf(0, 12) + 5
    const header = Buffer.from([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])
    const record = Buffer.from([
      0xc0,
      12,
      0,
      1,
      0,
      1,
      0,
      0,
      0,
      60,
      0,
      4,
      ...ip.split(".").map(Number)
    ])
    const answer = [query.subarray(0, 2), header, query.subarray(12, endOfQuestion), record]
    socket.send(Buffer.concat(answer), port, address)
  })
  socket.bind(0, "127.0.0.1").unref()
  await once(socket, "listening")
  return `127.0.0.1:${socket.address().port}`
}
