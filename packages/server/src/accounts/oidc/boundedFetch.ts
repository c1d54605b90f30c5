import type { CustomFetch } from "openid-client"

/**
 * The identity provider cannot be reached, is overloaded, or sends a response that is too large.
 */
export class ProviderFetchError extends Error {
  override readonly name = "ProviderFetchError"
}

/** The maximum size of a provider's response. Discovery documents have about 5 kB. */
const maxBytes = 256 * 1024

/**
 * Creates the `fetch` for one exchange with the identity provider, which is aborted at the
 * deadline. If the provider is overloaded or broken, `fetch` fails with `ProviderFetchError`, because
 * such a response says nothing about the person.
 */
export const boundedFetch =
  (deadline: AbortSignal): CustomFetch =>
  async (url, { body, headers, method }) => {
    const { host } = new URL(url)
    try {
      const response = await fetch(url, {
        ...(method !== "GET" && { body: body as BodyInit | null }),
        headers,
        method,
        redirect: "manual",
        signal: deadline
      })
      if (response.status >= 500 || response.status === 429) {
        await response.body?.cancel()
        throw new ProviderFetchError(`${host} responded with status ${response.status}`)
      }
      const content = await readBody(response, host)
      const { status } = response
      return new Response(content.length === 0 ? null : content, {
        status,
        headers: response.headers
      })
    } catch (error) {
      if (error instanceof ProviderFetchError) throw error
      const reason = deadline.aborted ? "did not respond in time" : "cannot be reached"
      throw new ProviderFetchError(`${host} ${reason}`, { cause: error })
    }
  }

const readBody = async ({ body }: Response, host: string): Promise<Buffer<ArrayBuffer>> => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) throw new ProviderFetchError(`${host} sent more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
