type Path = ReadonlyArray<string | number>

const longest = 200

const part = /\.?([A-Za-z_$][\w$-]*)|\[(\d{1,9})\]|\[("(?:[^"\\]|\\.)*")\]/y

/**
 * Parses a path such as `items[0].state`, optionally beginning with `$`. Returns undefined if the
 * text is not valid.
 */
export const parseJsonPath = (text: string): Path | undefined => {
  if (text.length > longest) return undefined
  const path: Array<string | number> = []
  part.lastIndex = /^\$(?=[.[]|$)/.test(text) ? 1 : 0
  while (part.lastIndex < text.length) {
    const at = part.lastIndex
    const [whole, key, index, quoted] = part.exec(text) ?? []
    if (whole === undefined) return undefined
    // Only the first key may omit the dot.
    if (key !== undefined && !whole.startsWith(".") && at > 0) return undefined
    const parsed = key ?? (index === undefined ? parseKey(quoted) : Number(index))
    if (parsed === undefined) return undefined
    path.push(parsed)
  }
  return text === "" ? undefined : path
}

const parseKey = (quoted = ""): string | undefined => {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return undefined
  }
}

/**
 * Finds the value at the path, ignoring inherited properties. `found` is false if there is no
 * value.
 */
export const valueAt = (
  root: unknown,
  path: Path
): { readonly found: boolean; readonly value: unknown } => {
  let value = root
  for (const key of path) {
    if (typeof value !== "object" || value === null) return { found: false, value: undefined }
    if (Array.isArray(value) !== (typeof key === "number"))
      return { found: false, value: undefined }
    if (!Object.hasOwn(value, key)) return { found: false, value: undefined }
    value = (value as Readonly<Record<string | number, unknown>>)[key]
  }
  return { found: true, value }
}
