/**
 * The size limit of one answer. The service sends at most 4 MiB of large calls at a time, and JSON may
 * make six bytes of one.
 */
const maxAnswerBytes = 32 * 1024 * 1024

/**
 * `fetch` for a service that is not trusted. It follows no redirect, because that would send requests
 * from here to wherever the service says, past the networks that calls are limited to. An answer
 * that is too large fails before it fills the memory.
 */
export const boundedFetch: typeof globalThis.fetch = async (input, init) => {
  const answer = await fetch(input, { ...init, redirect: "error" })
  if (answer.body === null || isBounded(answer.headers)) return answer
  return new Response(answer.body.pipeThrough(limitTo(maxAnswerBytes)), answer)
}

/** A length counts bytes before they are decompressed, and without one there is no end. */
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
