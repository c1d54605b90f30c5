import { capitalize } from "../../ui/values/format.ts"

/** A field of a channel's configuration, as its JSON schema describes it. */
export interface ConfigField {
  readonly name: string
  readonly label: string
  readonly hint: string | undefined
  readonly type: "boolean" | "number" | "text" | "url"
  readonly options: ReadonlyArray<string> | undefined
  readonly isRequired: boolean
  readonly isSecret: boolean
  readonly maxLength: number | undefined
}

export type Config = Readonly<Record<string, unknown>>

const record = (value: unknown): Config =>
  typeof value === "object" && value !== null ? (value as Config) : {}

const words: Readonly<Record<string, string>> = {
  url: "URL",
  id: "id",
  sid: "SID",
  api: "API"
}

/** Returns a field's label: `Bot token` for `bot_token`, `Chat id` for `chat_id`. */
const labelOf = (name: string): string => {
  const text = name.split("_").map((word) => words[word] ?? word)
  return capitalize(text.join(" "))
}

/** Returns a description, which is Markdown and may be a fragment, as a plain sentence. */
const hintOf = (description: string): string => {
  const text = description.replaceAll("`", "")
  return /[.…]$/.test(text) ? text : `${text}.`
}

const typeOf = ({ format, type }: Config): ConfigField["type"] =>
  type === "boolean"
    ? "boolean"
    : type === "integer" || type === "number"
      ? "number"
      : format === "uri"
        ? "url"
        : "text"

export const configFieldsOf = (
  schema: Config,
  secrets: ReadonlyArray<string>
): ReadonlyArray<ConfigField> => {
  const required: ReadonlyArray<unknown> = Array.isArray(schema["required"])
    ? schema["required"]
    : []
  return Object.entries(record(schema["properties"])).map(([name, value]) => {
    const property = record(value)
    const { description, maxLength } = property
    const options = property["enum"]
    return {
      name,
      label: labelOf(name),
      hint: typeof description === "string" ? hintOf(description) : undefined,
      type: typeOf(property),
      options: Array.isArray(options) ? options.map(String) : undefined,
      isRequired: required.includes(name),
      isSecret: secrets.includes(name),
      maxLength: typeof maxLength === "number" ? maxLength : undefined
    }
  })
}

/**
 * Converts a configuration to form values. Secret fields start empty, because the API returns only
 * a secret's last characters.
 */
export const configToValues = (
  fields: ReadonlyArray<ConfigField>,
  config: Config
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    fields.map(({ isSecret, name }) => [name, isSecret ? "" : String(config[name] ?? "")])
  )

/**
 * Converts form values to a configuration. When a channel is edited, an empty field becomes null,
 * which removes its value. An empty secret is omitted, which keeps the stored one.
 */
export const valuesToConfig = (
  fields: ReadonlyArray<ConfigField>,
  texts: Readonly<Record<string, string>>,
  isChange: boolean
): Config =>
  Object.fromEntries(
    fields.flatMap(({ isSecret, name, type }): Array<[string, unknown]> => {
      const text = texts[name] ?? ""
      if (type === "boolean") return [[name, text === "true"]]
      if (text.trim() === "") return isChange && !isSecret ? [[name, null]] : []
      return [[name, type === "number" ? Number(text) : text.trim()]]
    })
  )
