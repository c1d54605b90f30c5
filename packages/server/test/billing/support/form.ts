/**
 * Parses a form in the format of the official client: `items[0][price]=a` is `{ items: [{ price:
 * "a" }] }`.
 */
export const parseForm = (text: string): Fields => {
  const root: Fields = {}
  for (const [name, value] of new URLSearchParams(text)) {
    const path = name.split(/[[\]]+/).filter((part) => part !== "")
    let place = root
    for (const part of path.slice(0, -1)) {
      place[part] ??= {}
      place = place[part] as Fields
    }
    place[path.at(-1) ?? ""] = value
  }
  return root
}

export interface Fields {
  [name: string]: string | Fields
}

export const text = (fields: Fields, name: string): string | undefined => {
  const value = fields[name]
  return typeof value === "string" ? value : undefined
}

export const inner = (fields: Fields, name: string): Fields => {
  const value = fields[name]
  return typeof value === "object" ? value : {}
}
