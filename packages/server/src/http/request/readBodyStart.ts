import { NodeHttpServerRequest } from "@effect/platform-node"
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Readable } from "node:stream"
import { Permit } from "../fairness/Capacity.ts"

/**
 * The maximum size to which long bodies are received. They are read to the end, because a client
 * reads no response before it has sent its body.
 */
const maxReceivedBytes = 1024 * 1024

/** Reads the first bytes of a body in any format, as jobs send them. */
export const readBodyStart = (
  request: HttpServerRequest.HttpServerRequest,
  keptBytes: number
): Effect.Effect<string> => {
  const message = NodeHttpServerRequest.toIncomingMessage(request)
  const received = Effect.map(receive(message, keptBytes), toStorableText)
  return Permit.of(message)?.waiting(received) ?? received
}

const receive = (message: Readable, keptBytes: number): Effect.Effect<Buffer> =>
  Effect.callback((resume) => {
    const kept: Array<Buffer> = []
    let keptSoFar = 0
    let bytes = 0
    const finish = () => {
      message.off("data", take).off("end", finish).off("close", stop)
      resume(Effect.succeed(Buffer.concat(kept)))
    }
    const stop = () => resume(Effect.interrupt)
    const take = (chunk: Buffer) => {
      const part = chunk.subarray(0, keptBytes - keptSoFar)
      if (part.length > 0) kept.push(Buffer.from(part))
      keptSoFar += part.length
      bytes += chunk.length
      if (bytes < maxReceivedBytes) return
      message.pause()
      finish()
    }
    message.on("data", take).on("end", finish).on("close", stop)
  })

/**
 * Decodes the body of a job, which may have any encoding. A truncated last character is dropped.
 */
const toStorableText = (bytes: Buffer): string =>
  new TextDecoder().decode(bytes, { stream: true }).replaceAll("\0", "\ufffd")
