/**
 * The size limit of one answer. The service sends at most 4 MiB of large calls at a time, and JSON
 * may need six bytes for one.
 */
const maxAnswerBytes = 32 * 1024 * 1024

/**
 * `fetch` for a service that is not trusted. It follows no redirect, because the service could then
 * direct requests of the agent to networks that calls may not reach. An answer
 * that is too large fails before it fills the memory.
 */
export const boundedFetch: typeof globalThis.fetch = async (input, init) => {
  const answer = await fetch(input, { ...init, redirect: "error" })
  if (answer.body === null || isBounded(answer.headers)) return answer
  return new Response(answer.body.pipeThrough(limitTo(maxAnswerBytes)), answer)
}

/** Counts the bytes, because `content-length` may be absent or that of the compressed body. */
const isBounded = (headers: Headers): boolean =>
  !headers.has("content-encoding") &&
  headers.has("content-length") &&
  Number(headers.get("content-length")) <= maxAnswerBytes

const limitTo = (maxBytes: number) => {
  let bytes = 0
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform: (chunk, controller) => {
      bytes += chunk.byteLength
      if (bytes > maxBytes) throw new Error(`the answer has more than ${maxBytes} bytes`)
      controller.enqueue(chunk)
    }
  })
}
