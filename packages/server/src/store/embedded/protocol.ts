/**
 * The parts of the PostgreSQL wire protocol that the embedded store parses itself: the boundaries
 * of messages, and the first packet of a connection. The engine parses everything else.
 */

const protocolVersion3 = 3
const cancelRequestCode = 80877102
const terminateType = 0x58
const queryType = 0x51
const syncType = 0x53
const errorType = 0x45
/**
 * The maximum size of a message, far above any statement of this service. PostgreSQL's limit is 1
 * GiB.
 */
const maxMessageBytes = 256 * 1024 * 1024
/** PostgreSQL's limit for the startup packet (MAX_STARTUP_PACKET_LENGTH). */
const maxStartupBytes = 10_000

/** Parameters of the startup packet that are not session settings. */
const notSettings: ReadonlySet<string> = new Set(["user", "database", "replication", "options"])

export type Input =
  | { readonly _tag: "Startup"; readonly packet: Uint8Array }
  | { readonly _tag: "Cancel" }
  /** `complete` is true if the engine reports after the last message that it is ready. */
  | { readonly _tag: "Messages"; readonly bytes: Uint8Array; readonly complete: boolean }
  | { readonly _tag: "Terminate" }

export class ProtocolViolation extends Error {
  override readonly name = "ProtocolViolation"
}

/**
 * Splits a byte stream into pieces that the engine can process completely, whatever chunks it
 * arrives in. The engine runs synchronously and treats a missing byte as the end of the connection,
 * so it must never get a part of a message. Complete messages that arrived together stay together,
 * so that a pipeline costs one call.
 */
export class InputReader {
  #chunks: Array<Uint8Array> = []
  #length = 0
  /**
   * The number of bytes to wait for before the next scan. It prevents an incomplete large message
   * from being scanned repeatedly.
   */
  #needed = 1
  #started = false

  push(chunk: Uint8Array): ReadonlyArray<Input> {
    this.#chunks.push(chunk)
    this.#length += chunk.length
    const inputs: Array<Input> = []
    while (this.#length >= this.#needed) {
      const input = this.#started ? this.#messages() : this.#first()
      if (input === undefined) break
      inputs.push(input)
    }
    return inputs
  }

  #first(): Input | undefined {
    if (this.#length < 8) return this.#wait(8)
    const view = viewOf(this.#joined())
    const length = view.getUint32(0)
    if (length < 8 || length > maxStartupBytes) {
      throw new ProtocolViolation(`a startup packet of ${length} bytes`)
    }
    if (this.#length < length) return this.#wait(length)
    const code = view.getUint32(4)
    if (code === cancelRequestCode) {
      this.#take(length)
      return { _tag: "Cancel" }
    }
    if (code >>> 16 !== protocolVersion3) {
      throw new ProtocolViolation(`the protocol or negotiation code ${code}`)
    }
    this.#started = true
    return { _tag: "Startup", packet: this.#take(length) }
  }

  #messages(): Input | undefined {
    const bytes = this.#joined()
    const view = viewOf(bytes)
    let end = 0
    let complete = false
    while (end + 5 <= bytes.length) {
      if (bytes[end] === terminateType) {
        if (end > 0) break
        this.#take(bytes.length)
        return { _tag: "Terminate" }
      }
      const length = view.getUint32(end + 1)
      if (length < 4 || length > maxMessageBytes) {
        throw new ProtocolViolation(`a message of ${length} bytes`)
      }
      if (end + 1 + length > bytes.length) break
      complete = bytes[end] === syncType || bytes[end] === queryType
      end += 1 + length
    }
    if (end > 0) return { _tag: "Messages", bytes: this.#take(end), complete }
    return this.#wait(bytes.length < 5 ? 5 : 1 + view.getUint32(1))
  }

  #joined(): Uint8Array {
    const first = this.#chunks[0]
    if (this.#chunks.length === 1 && first !== undefined) return first
    const joined = concatChunks(this.#chunks)
    this.#chunks = [joined]
    return joined
  }

  #take(length: number): Uint8Array {
    const bytes = this.#joined()
    this.#chunks = length === bytes.length ? [] : [bytes.subarray(length)]
    this.#length -= length
    this.#needed = 1
    return bytes.subarray(0, length)
  }

  #wait(length: number): undefined {
    this.#needed = length
  }
}

export const startupSettings = (packet: Uint8Array): ReadonlyArray<readonly [string, string]> => {
  const words = new TextDecoder().decode(packet.subarray(8)).split("\0")
  const settings: Array<readonly [string, string]> = []
  for (let i = 0; i + 1 < words.length && words[i] !== ""; i += 2) {
    const name = words[i] ?? ""
    if (!notSettings.has(name)) settings.push([name, words[i + 1] ?? ""])
  }
  return settings
}

export const queryMessage = (sql: string): Uint8Array => {
  const text = new TextEncoder().encode(sql)
  const message = new Uint8Array(6 + text.length)
  message[0] = queryType
  viewOf(message).setUint32(1, 5 + text.length)
  message.set(text, 5)
  return message
}

/**
 * The message that ends a batch of the extended protocol. It is needed even after an error in the
 * batch.
 */
export const syncMessage: Uint8Array = Uint8Array.of(syncType, 0, 0, 0, 4)

export const findError = (
  messages: Uint8Array<ArrayBuffer>
): Uint8Array<ArrayBuffer> | undefined => {
  const view = viewOf(messages)
  for (let at = 0; at + 5 <= messages.length;) {
    const next = at + 1 + view.getUint32(at + 1)
    if (messages[at] === errorType) return messages.slice(at, next)
    at = next
  }
  return undefined
}

export const quoteLiteral = (text: string): string =>
  `E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`

export const concatChunks = (chunks: ReadonlyArray<Uint8Array>): Uint8Array<ArrayBuffer> => {
  const joined = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    joined.set(chunk, at)
    at += chunk.length
  }
  return joined
}

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
