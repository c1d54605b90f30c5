import { connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { writeFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"

/** A request as it is sent, without a library that would correct it. Strings are Latin-1. */
export interface WireRequest {
  readonly method: string
  readonly target: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: Buffer | undefined
  /** True if the body uses chunked encoding, without a content length. */
  readonly isChunked: boolean
}

export interface WireResponse {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
}

/** Thrown if the server closes the connection or does not respond in time. */
export class NoResponse extends Error {}

/**
 * The response timeout. It is longer than the longest time that a request can wait for an
 * execution.
 */
const patienceMs = 45_000

/** A persistent connection that sends one request at a time. */
export class Connection {
  #socket: Socket | undefined
  readonly #hostname: string
  readonly #port: number

  constructor(url: string) {
    const { hostname, port } = new URL(url)
    this.#hostname = hostname
    this.#port = Number(port)
  }

  close() {
    this.#socket?.destroy()
    this.#socket = undefined
  }

  async send(request: WireRequest): Promise<WireResponse> {
    const socket = (this.#socket ??= connect(this.#port, this.#hostname).setNoDelay())
    try {
      const answer = await exchange(socket, request)
      if (answer.headers.get("connection") === "close") this.close()
      return answer
    } catch (error) {
      this.close()
      throw error
    }
  }
}

const exchange = (socket: Socket, request: WireRequest) =>
  new Promise<WireResponse>((resolve, reject) => {
    let received = Buffer.alloc(0)
    const finish = () => {
      socket
        .removeAllListeners()
        .setTimeout(0)
        .on("error", () => {})
    }
    const fail = (why: string) => {
      finish()
      socket.destroy()
      reject(
        new NoResponse(`${why} after ${received.length} bytes: ${received.toString("latin1")}`)
      )
    }
    // The error event occurred before there was a listener, so waiting for it would never end.
    if (!socket.writable) return fail("closed, although it should be persistent")
    socket
      .setTimeout(patienceMs, () => fail("silence"))
      .on("error", () => {})
      .on("close", () => fail("the end of the connection"))
      .on("data", (chunk) => {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
        const answer = parseResponse(received, request.method === "HEAD")
        if (answer === undefined) return
        finish()
        resolve(answer)
      })
      .write(bytesOf(request))
  })

const bytesOf = ({ body, headers, isChunked, method, target }: WireRequest): Buffer => {
  const framing =
    body === undefined
      ? ""
      : isChunked
        ? "transfer-encoding: chunked\r\n"
        : `content-length: ${body.length}\r\n`
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines}${framing}\r\n`, "latin1")
  return body === undefined ? head : Buffer.concat([head, ...(isChunked ? chunked(body) : [body])])
}

const chunked = (body: Buffer): ReadonlyArray<Buffer> => {
  const parts: Array<Buffer> = []
  const step = Math.max(1, Math.ceil(body.length / 3))
  for (let start = 0; start < body.length; start += step) {
    const part = body.subarray(start, start + step)
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n"))
  }
  return [...parts, Buffer.from("0\r\n\r\n")]
}

/** Parses the final response, after any interim (1xx) responses. */
const parseResponse = (bytes: Buffer, isHead: boolean): WireResponse | undefined => {
  const end = bytes.indexOf("\r\n\r\n")
  if (end === -1) return undefined
  const [statusLine = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n")
  const status = Number(statusLine.split(" ")[1])
  const rest = bytes.subarray(end + 4)
  if (status < 200) return parseResponse(rest, isHead)
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(":")
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    })
  )
  // The body of a stream is not read, because it never ends.
  const isStream = headers.get("content-type") === "text/event-stream"
  const isEmpty = isHead || isStream || status === 204 || status === 304
  const body = isEmpty ? Buffer.alloc(0) : bodyOf(rest, headers)
  if (body === undefined) return undefined
  return { status, headers, text: decoded(body, headers.get("content-encoding")) }
}

/** Decodes a body. The server compresses longer responses if the request accepts that. */
const decoded = (body: Buffer, encoding: string | undefined): string =>
  (encoding === "gzip" && body.length > 0 ? gunzipSync(body) : body).toString("utf8")

const bodyOf = (bytes: Buffer, headers: ReadonlyMap<string, string>): Buffer | undefined => {
  if (headers.get("transfer-encoding") !== "chunked") {
    const length = Number(headers.get("content-length"))
    return bytes.length < length ? undefined : bytes.subarray(0, length)
  }
  const parts: Array<Buffer> = []
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf("\r\n", at)
    if (lineEnd === -1) return undefined
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16)
    const start = lineEnd + 2
    if (bytes.length < start + size + 2) return undefined
    if (size === 0) return Buffer.concat(parts)
    parts.push(bytes.subarray(start, start + size))
    at = start + size + 2
  }
}

/**
 * Returns the request as a `curl` command that matches it as closely as possible. A long or binary
 * body is written to a file.
 */
export const toCurl = (url: string, request: WireRequest, label: string): string => {
  const { body, headers, isChunked, method, target } = request
  const parts = ["curl", "-i", "--path-as-is", "-g", "-X", quoted(method), quoted(url + target)]
  for (const [name, value] of headers) parts.push("-H", quoted(`${name}: ${value}`))
  if (isChunked) parts.push("-H", quoted("transfer-encoding: chunked"))
  if (body !== undefined) parts.push("--data-binary", bodyArgument(body, label))
  return parts.join(" ")
}

const bodyArgument = (body: Buffer, label: string): string => {
  const text = body.toString("latin1")
  if (text.length <= 4096 && !/[^\x20-\x7e\n]/.test(text) && !text.startsWith("@")) {
    return quoted(text)
  }
  const file = join(tmpdir(), `fuzz-${label}.body`)
  writeFileSync(file, body)
  return quoted(`@${file}`)
}

const quoted = (text: string): string =>
  /[^\x20-\x7e]/.test(text)
    ? `$'${text.replace(/[\\']/g, String.raw`\$&`).replace(/[^\x20-\x7e]/g, hexEscape)}'`
    : `'${text.replaceAll("'", String.raw`'\''`)}'`

const hexEscape = (character: string) =>
  String.raw`\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`
