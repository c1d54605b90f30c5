import type { Socket } from "node:net"

/**
 * Tracks connections on which no byte has arrived. Browsers and load balancers keep such
 * connections open. Node counts a connection as idle only after its first request, so a stopping
 * server would wait for these connections until they time out.
 */
export class ConnectionsWithoutData {
  readonly #open = new Set<Socket>()

  watch(socket: Socket): void {
    this.#open.add(socket)
    socket.once("close", () => this.#open.delete(socket))
  }

  close(): void {
    for (const socket of this.#open) if (socket.bytesRead === 0) socket.destroy()
  }
}
