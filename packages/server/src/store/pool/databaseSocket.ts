import { connect, type Socket } from "node:net"

/**
 * Opens the driver's connection to the server, and closes it when the server has been silent for
 * too long. After a power failure, or behind a firewall that has forgotten the connection, Linux
 * resends for 15 minutes, and all statements on the connection wait. PostgreSQL ends a statement
 * within its `statement_timeout`, so a longer silence means that the server is gone. A connection
 * that was unused for that time is closed too, because it may be dead and a new connection costs
 * only milliseconds.
 *
 * The received bytes are counted. This works below TLS too, where the driver bypasses this socket.
 */
export const databaseSocket = (url: string, silenceMs: number): Socket => {
  const socket = connect({
    ...addressOf(new URL(url)),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 30_000
  })
  let read = 0
  let written = 0
  /**
   * The number of checks since the last received byte, or since the first byte that was sent after
   * it.
   */
  let silentChecks = 0
  let asked = false
  const watch = setInterval(() => {
    // Silence means nothing while the socket is paused.
    if (socket.bytesRead > read || socket.isPaused()) {
      asked = false
      silentChecks = 0
    } else if (!asked && socket.bytesWritten > written) {
      asked = true
      silentChecks = 0
    } else if (++silentChecks >= checks) {
      socket.destroy(new Error(`the database sent nothing for ${silenceMs / 1000} s`))
    }
    read = socket.bytesRead
    written = socket.bytesWritten
  }, silenceMs / checks)
  watch.unref()
  return socket.on("close", () => clearInterval(watch))
}

/**
 * The number of checks during a silence. A suspended process finds only one check overdue, and
 * reads from the socket before the next check.
 */
const checks = 5

/**
 * Parses the address in the URL in the same way as the driver: parameters override the host and
 * port, and a host can be a directory.
 */
const addressOf = (url: URL) => {
  const host =
    url.searchParams.get("host") ?? decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, "$1")
  const port = Number(url.searchParams.get("port") ?? url.port) || 5432
  return host.startsWith("/")
    ? { path: `${host}/.s.PGSQL.${port}` }
    : { host: host === "" ? "localhost" : host, port }
}
