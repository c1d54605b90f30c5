import type { IncomingMessage } from "node:http"

type Message = Pick<IncomingMessage, "headers" | "httpVersion" | "rawHeaders" | "socket">

/**
 * Connections that have sent a malformed request. Their next bytes may still belong to that
 * request.
 */
const malformedConnections = new WeakSet<object>()

/**
 * Returns false for requests that RFC 9112 forbids but Node's parser accepts. Another server, such
 * as a proxy, may read such a request differently, or as several requests.
 */
export const isWellFormed = (message: Message): boolean => {
  if (!malformedConnections.has(message.socket) && isUnambiguous(message)) return true
  malformedConnections.add(message.socket)
  return false
}

const isUnambiguous = ({ headers, httpVersion, rawHeaders }: Message): boolean => {
  const coding = headers["transfer-encoding"]
  if (httpVersion === "1.0") return coding === undefined && hostsIn(rawHeaders) <= 1
  return (
    httpVersion === "1.1" &&
    (coding === undefined || coding.toLowerCase() === "chunked") &&
    hostsIn(rawHeaders) === 1 &&
    !invalidHostCharacter.test(headers.host ?? "")
  )
}

/** Characters that are not valid in a host name or an address. */
const invalidHostCharacter = /[\s/\\?#@,]/

const hostsIn = (rawHeaders: ReadonlyArray<string>): number => {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === "host") hosts++
  }
  return hosts
}
