import { connect, type Socket } from "node:net"

/**
 * The driver's connection to the server, which closes when the server is silent for too long. After
 * a power cut, or behind a firewall that forgot the connection, Linux resends for 15 minutes, and a
 * pool of such connections answers nothing meanwhile. PostgreSQL ends a statement within its
 * `statement_timeout`, so a longer silence means that the server is gone. A connection that was
 * unused for as long is closed too: it may be just as dead, and a new one costs milliseconds.
 *
 * Counting bytes also works below TLS, where the driver reads and writes past this socket.
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
  /** The number of checks since the last received byte, or since the first byte sent after it. */
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

// ---------------------------------------------------------------------------

/**
 * The silence is measured in several checks. A process that was suspended finds only one check
 * overdue, and reads from the socket before the next.
 */
const checks = 5

/**
 * Interprets the URL as the driver does: parameters override the authority, and a host may be a
 * directory.
 */
const addressOf = (url: URL) => {
  const host =
    url.searchParams.get("host") ?? decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, "$1")
  const port = Number(url.searchParams.get("port") ?? url.port) || 5432
  return host.startsWith("/")
    ? { path: `${host}/.s.PGSQL.${port}` }
    : { host: host === "" ? "localhost" : host, port }
}
