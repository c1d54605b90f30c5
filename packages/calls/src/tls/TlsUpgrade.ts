import { isIP, type Socket } from "node:net"
import { connect, type TLSSocket } from "node:tls"

/**
 * Maximum number of cached sessions. A session takes a few kilobytes and saves both sides most of a
 * handshake.
 */
const maxSessions = 1_000

/**
 * Starts TLS on connected sockets. Resumes the last session of each host, unless each handshake
 * must present and verify the certificate.
 */
export const makeUpgradeToTls = ({ resumes }: { readonly resumes: boolean }) => {
  const sessions = new Map<string, Buffer>()

  const remember = (hostname: string, session: Buffer) => {
    sessions.delete(hostname)
    sessions.set(hostname, session)
    const [oldest] = sessions.keys()
    if (sessions.size > maxSessions && oldest !== undefined) sessions.delete(oldest)
  }

  return (socket: Socket, hostname: string): TLSSocket => {
    const session = sessions.get(hostname)
    const secure = connect({
      socket,
      host: hostname,
      // HTTP/2 shares one connection between calls: a single reset or stalled window would fail
      // many of them.
      ALPNProtocols: ["http/1.1"],
      ...(isIP(hostname) === 0 && { servername: hostname }),
      ...(session !== undefined && { session })
    })
    if (!resumes) return secure
    return secure.on("session", (established: Buffer) => remember(hostname, established))
  }
}
