import { maskedValue } from "../ui/values/maskedValue.ts"
import type { TaskCall } from "../data/tasks.ts"

/** Quotes a string for a POSIX shell. No character has a special meaning within single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** Returns the names of the shell variables that replace the masked header values of a call. */
export const maskedHeaderVariables = ({
  headers
}: Pick<TaskCall, "headers">): ReadonlyArray<string> =>
  Object.entries(headers).flatMap(([name, value]) =>
    value === maskedValue ? [variableOf(name)] : []
  )

const variableOf = (header: string): string =>
  header
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, "_")
    .replace(/^(?=\d)/, "_")

/**
 * Formats a header. A masked value becomes a variable, and the shell rejects the command if the
 * variable is not set.
 */
const headerOf = (name: string, value: string): string =>
  value === maskedValue
    ? `-H ${quoted(`${name}: `)}"\${${variableOf(name)}:?}"`
    : `-H ${quoted(`${name}: ${value}`)}`

/** Builds the curl command for an execution's call, including the signature headers. */
export const curlOf = (
  { body, headers, method, url }: TaskCall,
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
    ...all.map(([name, value]) => headerOf(name, value)),
    ...(body === null ? [] : [`--data-raw ${quoted(body)}`])
  ].join(" \\\n  ")
}
