import { isCredentialHeader, mask } from "@scheduling/domain/calls/credentialHeaders"
import { Data } from "effect"

/** The response headers that the service evaluates, and the headers that it shows to users. */
export interface ResponseHeaders {
  readonly retryAfter: string | null
  readonly complete: string | null
  readonly location: string | null
  /**
   * The response headers, one per line, with names in lower case. Connection headers are omitted,
   * values that look like credentials are masked, and the result is truncated to 4 kB.
   */
  readonly shown: string
}

/** Receives the parts of a response as they are parsed. */
export interface ResponseListener {
  readonly onHead: (status: number, headers: ResponseHeaders) => void
  readonly onBody: (bytes: Buffer) => void
}

/** The bytes are not a valid response according to RFC 9112. */
export class InvalidResponse extends Data.TaggedError("InvalidResponse")<{}> {}

export class HeadTooLarge extends Data.TaggedError("HeadTooLarge")<{}> {}

/** The connection closed or switched protocols before the response was complete. */
export class ResponseTruncated extends Data.TaggedError("ResponseTruncated")<{}> {}

/**
 * Limits the final response head and all interim responses together, because each costs as much as
 * a head.
 */
const maxHeadBytes = 16 * 1024

const headStart = Buffer.from("HTTP/1.")
const headEnd = Buffer.from("\r\n\r\n")
const statusLine = /^HTTP\/1\.([01]) (\d{3})(?: [^\0\r\n]*)?$/
const fieldLine = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([^\0\r\n]*)$/

const aboutConnection = new Set(["connection", "keep-alive", "transfer-encoding"])

const maxShown = 4_096

const nothing = Buffer.alloc(0)
const carriageReturn = 13
const lineFeed = 10
const semicolon = 59

type Position =
  | "head"
  | "sized body"
  | "body until the end"
  | "size of a chunk"
  | "extension of a chunk"
  | "chunk"
  | "end of a chunk"
  | "trailer"
  | "after the response"

/**
 * Parses one HTTP/1.1 response incrementally. It buffers only an unfinished head; everything else
 * is passed on or dropped immediately. It throws at the first byte that violates the protocol. The
 * caller limits the length of the whole response.
 */
export class ResponseParser {
  private position: Position = "head"
  private head: Buffer = nothing
  private interimBytes = 0
  /** The number of missing bytes of the body or the current chunk. */
  private missing = 0
  private hasSize = false
  private isLineEmpty = true
  private isAfterReturn = false
  /** False if the connection must not be used for another response. */
  isReusable = true
  /** How long the server keeps an idle connection, from its `Keep-Alive` header. */
  keepAliveSeconds: number | null = null
  private readonly isBodyless: boolean
  private readonly reader: ResponseListener

  constructor(method: string, reader: ResponseListener) {
    this.isBodyless = method === "HEAD"
    this.reader = reader
  }

  get isFinished(): boolean {
    return this.position === "after the response"
  }

  push(bytes: Buffer): void {
    let at = 0
    while (at < bytes.length && !this.isFinished) at = this.read(bytes, at)
    // Bytes after the response belong to no request, so the next response could not be trusted.
    if (at < bytes.length) this.isReusable = false
  }

  /** Handles the end of the connection, which also ends bodies without a length. */
  finish(): void {
    if (this.position === "body until the end") this.position = "after the response"
    else if (!this.isFinished) throw new ResponseTruncated()
  }

  private read(bytes: Buffer, at: number): number {
    switch (this.position) {
      case "head":
        return this.readHead(bytes, at)
      case "sized body":
      case "chunk":
        return this.readMissing(bytes, at)
      case "body until the end":
        this.reader.onBody(at === 0 ? bytes : bytes.subarray(at))
        return bytes.length
      case "size of a chunk":
        return this.readSize(bytes, at)
      case "extension of a chunk":
        return this.skipExtension(bytes, at)
      case "end of a chunk":
        return this.readEndOfChunk(bytes, at)
      case "trailer":
        return this.skipTrailer(bytes, at)
      case "after the response":
        return bytes.length
    }
  }

  private readHead(bytes: Buffer, start: number): number {
    let at = start
    if (this.head.length === 0) {
      while (bytes[at] === carriageReturn || bytes[at] === lineFeed) at++
      if (at === bytes.length) return at
    }
    const before = this.head.length
    const head = before === 0 ? bytes.subarray(at) : Buffer.concat([this.head, bytes.subarray(at)])
    const sample = Math.min(head.length, headStart.length)
    if (headStart.compare(head, 0, sample, 0, sample) !== 0) throw new InvalidResponse()
    const end = head.indexOf(headEnd)
    const headBytes = end === -1 ? head.length : end
    if (this.interimBytes + headBytes > maxHeadBytes) throw new HeadTooLarge()
    if (end === -1) {
      this.head = before === 0 ? Buffer.from(head) : head
      return bytes.length
    }
    this.head = nothing
    this.interimBytes += headBytes
    this.begin(head.toString("latin1", 0, end))
    return at + end + headEnd.length - before
  }

  private begin(head: string): void {
    const [first = "", ...lines] = head.split("\r\n")
    const [, version, code] = statusLine.exec(first) ?? []
    const status = Number(code)
    if (code === undefined || status < 100) throw new InvalidResponse()
    // No call requests a change of protocol.
    if (status === 101) throw new ResponseTruncated()

    let length: string | undefined
    let encoding: string | undefined
    let retryAfter: string | null = null
    let complete: string | null = null
    let location: string | null = null
    let isKept = version === "1"
    let shown = ""
    for (const line of lines) {
      const [, written = "", value = ""] = fieldLine.exec(line) ?? []
      const name = written.toLowerCase()
      if (shown.length < maxShown && !aboutConnection.has(name)) {
        shown += `${name}: ${isCredentialHeader(name) ? mask : value.trim()}\n`
      }
      switch (name) {
        case "":
          throw new InvalidResponse()
        case "content-length":
          if (length !== undefined) throw new InvalidResponse()
          length = value.trim()
          break
        case "transfer-encoding":
          encoding = encoding === undefined ? value : `${encoding},${value}`
          break
        case "connection":
          if (/\bclose\b/i.test(value)) isKept = false
          else if (/\bkeep-alive\b/i.test(value)) isKept = true
          break
        case "keep-alive": {
          const seconds = /\btimeout=(\d{1,9})\b/i.exec(value)?.[1]
          if (seconds !== undefined) this.keepAliveSeconds = Number(seconds)
          break
        }
        case "retry-after":
          retryAfter ??= value.trim()
          break
        case "scheduling-complete":
          complete ??= value.trim()
          break
        case "location":
          location ??= value.trim()
          break
      }
    }
    if (length !== undefined && !/^\d{1,15}$/.test(length)) throw new InvalidResponse()
    // A response must not have both headers. A proxy in between might use the other header and see
    // a different end of the response.
    if (length !== undefined && encoding !== undefined) throw new InvalidResponse()
    // This is an interim response, and the final one follows.
    if (status < 200) return

    this.isReusable = isKept
    this.reader.onHead(status, {
      retryAfter,
      complete,
      location,
      shown: shown.slice(0, maxShown)
    })
    if (this.isBodyless || status === 204 || status === 304) this.position = "after the response"
    else if (encoding !== undefined) this.beginEncoded(encoding)
    else if (length === undefined) this.beginEndless()
    else this.beginSized(Number(length))
  }

  private beginEncoded(encoding: string): void {
    if (!/(?:^|,)[ \t]*chunked[ \t]*$/i.test(encoding)) this.beginEndless()
    else this.position = "size of a chunk"
  }

  private beginEndless(): void {
    this.isReusable = false
    this.position = "body until the end"
  }

  private beginSized(length: number): void {
    this.missing = length
    if (length === 0) this.position = "after the response"
    else this.position = "sized body"
  }

  private readMissing(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.missing)
    this.missing -= end - at
    this.reader.onBody(bytes.subarray(at, end))
    if (this.missing > 0) return end
    if (this.position === "chunk") this.position = "end of a chunk"
    else this.position = "after the response"
    return end
  }

  private readSize(bytes: Buffer, start: number): number {
    for (let at = start; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0
      const digit = hexDigit(byte)
      if (digit === -1) {
        const mayFollow = byte === carriageReturn || byte === semicolon
        if (!this.hasSize || !mayFollow) throw new InvalidResponse()
        this.position = "extension of a chunk"
        return at
      }
      this.hasSize = true
      this.missing = this.missing * 16 + digit
      if (this.missing > Number.MAX_SAFE_INTEGER) throw new InvalidResponse()
    }
    return bytes.length
  }

  private skipExtension(bytes: Buffer, start: number): number {
    for (let at = start; at < bytes.length; at++) {
      if (!this.endsLine(bytes[at])) continue
      this.hasSize = false
      this.isLineEmpty = true
      this.position = this.missing === 0 ? "trailer" : "chunk"
      return at + 1
    }
    return bytes.length
  }

  private readEndOfChunk(bytes: Buffer, at: number): number {
    const byte = bytes[at]
    if (!this.isAfterReturn && byte !== carriageReturn) throw new InvalidResponse()
    if (this.endsLine(byte)) this.position = "size of a chunk"
    return at + 1
  }

  private skipTrailer(bytes: Buffer, start: number): number {
    for (let at = start; at < bytes.length; at++) {
      const byte = bytes[at]
      if (this.endsLine(byte)) {
        if (this.isLineEmpty) {
          this.position = "after the response"
          return at + 1
        }
        this.isLineEmpty = true
      } else if (byte !== carriageReturn) {
        this.isLineEmpty = false
      }
    }
    return bytes.length
  }

  /** Lines must end with CR LF. A CR or LF alone is an error. */
  private endsLine(byte: number | undefined): boolean {
    const isEnd = this.isAfterReturn
    if (isEnd !== (byte === lineFeed)) throw new InvalidResponse()
    this.isAfterReturn = byte === carriageReturn
    return isEnd
  }
}

const hexDigit = (byte: number): number => {
  if (byte >= 48 && byte <= 57) return byte - 48
  const letter = byte | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}
