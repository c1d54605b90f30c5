/**
 * Parses a form as Stripe's client library encodes it: `items[0][price]=a` is `{ items: [{ price:
 * "a" }] }`.
 */
export const parseForm = (text: string): FormFields => {
  const root: FormFields = {}
  for (const [name, value] of new URLSearchParams(text)) {
    const path = name.split(/[[\]]+/).filter((part) => part !== "")
    let place = root
    for (const part of path.slice(0, -1)) {
      place[part] ??= {}
      place = place[part] as FormFields
    }
    place[path.at(-1) ?? ""] = value
  }
  return root
}

export interface FormFields {
  [name: string]: string | FormFields
}

export const textField = (fields: FormFields, name: string): string | undefined => {
  const value = fields[name]
  return typeof value === "string" ? value : undefined
}

export const nestedFields = (fields: FormFields, name: string): FormFields => {
  const value = fields[name]
  return typeof value === "object" ? value : {}
}
