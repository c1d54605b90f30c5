/**
 * The maximum size of a response. The service sends up to 4 MiB of large calls, and one byte of a
 * call can become six bytes of JSON.
 */
const maxResponseBytes = 32 * 1024 * 1024

/**
 * `fetch` for an untrusted service. It follows no redirects, because a redirect could send the
 * agent's requests to networks that calls must not reach. A response that is too large fails before
 * it fills the memory.
 */
export const boundedFetch: typeof globalThis.fetch = async (input, init) => {
  const answer = await fetch(input, { ...init, redirect: "error" })
  if (answer.body === null || isBounded(answer.headers)) return answer
  return new Response(answer.body.pipeThrough(limitTo(maxResponseBytes)), answer)
}

/**
 * Returns whether `content-length` proves that the response is small enough. The header may be
 * absent, or refer to the compressed body.
 */
const isBounded = (headers: Headers): boolean =>
  !headers.has("content-encoding") &&
  headers.has("content-length") &&
  Number(headers.get("content-length")) <= maxResponseBytes

const limitTo = (maxBytes: number) => {
  let bytes = 0
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform: (chunk, controller) => {
      bytes += chunk.byteLength
      if (bytes > maxBytes) throw new Error(`the response has more than ${maxBytes} bytes`)
      controller.enqueue(chunk)
    }
  })
}
