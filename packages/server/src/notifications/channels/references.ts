import { secretNameInReference } from "@scheduling/domain/calls/CallAuth"
import { hasBraces, parseTemplate, type Template } from "@scheduling/domain/calls/Template"
import { templateUrlProblems, withPlaceholders } from "@scheduling/domain/calls/TemplateCall"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { issueAt } from "@scheduling/domain/shared/ValidationIssue"
import { Effect, Result, Schema } from "effect"
import type { ConfigFields, ChannelKind } from "../kinds/ChannelKind.ts"

/** Returns true if a configuration's field refers to a workspace secret. */
export const refersToSecret = (value: unknown): value is string =>
  typeof value === "string" && hasBraces(value)

const templateOf = (value: string): Template => Result.getOrElse(parseTemplate(value), () => [])

/** Returns the names of the workspace secrets that a configuration uses. */
export const secretNamesIn = (config: ConfigFields): ReadonlySet<string> =>
  new Set(
    Object.values(config)
      .filter(refersToSecret)
      .flatMap(templateOf)
      .flatMap((part) => (typeof part !== "string" && part.root === "secrets" ? [part.name] : []))
  )

/** Returns the configuration with references replaced by the secrets' values. */
export const withSecrets = (
  config: ConfigFields,
  values: ReadonlyMap<string, string>
): ConfigFields =>
  Object.fromEntries(
    Object.entries(config).map(([field, value]) => [
      field,
      refersToSecret(value) ? replaceReference(field, value, values) : value
    ])
  )

const replaceReference = (
  field: string,
  value: string,
  values: ReadonlyMap<string, string>
): string =>
  templateOf(value)
    .map((part) => {
      if (typeof part === "string") return part
      const secret = part.root === "secrets" ? (values.get(part.name) ?? "") : ""
      return urlFields.has(field) ? encodeURIComponent(secret.toWellFormed()) : secret
    })
    .join("")

const urlFields: ReadonlySet<string> = new Set(["url", "server"])

/**
 * Replaces references by examples, so that the configuration can be validated by the rules of its
 * kind. A reference in a secret field becomes an example value, and a reference in a URL becomes a
 * placeholder.
 */
export const withExampleValues = (
  { config: schema, secrets }: ChannelKind,
  config: ConfigFields
): Effect.Effect<ConfigFields, ValidationFailed> => {
  const fields = Object.entries(config).map(([field, value]) => {
    if (!refersToSecret(value)) return { field, value }
    if (urlFields.has(field)) {
      const [problem] = templateUrlProblems(value)
      if (problem !== undefined) return { field, problem }
      const template = templateOf(value)
      const other = template.find((part) => typeof part !== "string" && part.root !== "secrets")
      return other === undefined
        ? { field, value: withPlaceholders(template) }
        : { field, problem: onlySecrets }
    }
    return secrets.includes(field) && secretNameInReference(value) !== undefined
      ? { field, value: exampleOf(schema, field) }
      : { field, problem: onlySecrets }
  })
  const issues = fields.flatMap(({ field, problem }) =>
    problem === undefined ? [] : [issueAt(["config", field], "invalid", problem)]
  )
  return issues.length > 0
    ? Effect.fail(new ValidationFailed({ issues }))
    : Effect.succeed(Object.fromEntries(fields.map(({ field, value }) => [field, value])))
}

const onlySecrets =
  "may contain {{ only in a URL after the host, or as one reference such as {{ secrets.BOT_TOKEN }} in place of a secret"

const exampleOf = (schema: ChannelKind["config"], field: string): unknown => {
  const properties = Object(Schema.toJsonSchemaDocument(schema).schema["properties"])
  return properties[field]?.examples?.[0]
}
