import type { Call } from "../data/tasks.ts"

/** Quotes a text for a POSIX shell, in which nothing in single quotes is special. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** The curl command for the call of an execution, with the headers of a signature. */
export const curlOf = (
  { body, headers, method, url }: Call,
  executionId: string,
  signature: Readonly<Record<string, string>> = {}
): string => {
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  const isTyped = body === null || names.has("content-type")
  const all = [
    ...Object.entries(headers),
    ...(isTyped ? [] : [["content-type", "application/json"] as const]),
    ["idempotency-key", executionId] as const,
    ...Object.entries(signature)
  ]
  return [
    `curl -X ${method} ${quoted(url)}`,
    ...all.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`--data-raw ${quoted(body)}`])
  ].join(" \\\n  ")
}
