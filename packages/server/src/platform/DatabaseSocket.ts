import { connect, type Socket } from "node:net"

/**
 * The driver's connection to the server, and an end to it when nothing more comes. Who lost power or
 * sits behind a firewall that forgot the connection tells nobody, and Linux sends again for 15 minutes;
 * a pool that is full of such connections answers nothing for as long. PostgreSQL ends a statement
 * within its `statement_timeout`, so that after a longer silence nobody is there. A connection that
 * nobody used for as long goes too: it may be as dead, and a new one costs milliseconds.
 *
 * Counting bytes works below TLS as well, where the driver reads and writes past this socket.
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
  /** Since the last byte came, or since the first one that went after it. */
  let silentChecks = 0
  let asked = false
  const watch = setInterval(() => {
    // While nobody reads, nobody hears either.
    if (socket.bytesRead > read || socket.isPaused()) {
      asked = false
      silentChecks = 0
    } else if (!asked && socket.bytesWritten > written) {
      asked = true
      silentChecks = 0
    } else if (++silentChecks >= checks) {
      socket.destroy(new Error(`nothing came for ${silenceMs / 1000} s`))
    }
    read = socket.bytesRead
    written = socket.bytesWritten
  }, silenceMs / checks)
  watch.unref()
  return socket.on("close", () => clearInterval(watch))
}

// ---------------------------------------------------------------------------

/** A process that stood still finds one check overdue, not all of them, and reads before the next. */
const checks = 5

/** As the driver reads it: parameters go before the authority, and a host may be a folder. */
const addressOf = (url: URL) => {
  const host =
    url.searchParams.get("host") ?? decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, "$1")
  const port = Number(url.searchParams.get("port") ?? url.port) || 5432
  return host.startsWith("/")
    ? { path: `${host}/.s.PGSQL.${port}` }
    : { host: host === "" ? "localhost" : host, port }
}
