import type { Call } from "../data/tasks.ts"

/** Quotes for a shell of POSIX: nothing in single quotes means anything but itself. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** A command that makes the call of an execution again, with the headers of its signature. */
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
