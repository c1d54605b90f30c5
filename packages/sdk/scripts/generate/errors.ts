import type { ErrorClass } from "@scheduling/openapi/contract/endpoints"
import {
  isSchema,
  mapSchema,
  withUnknownFields,
  simplified,
  reference
} from "@scheduling/openapi/schemas/rewriting"
import { Schema, SchemaAST } from "effect"
import type { Contract, Schema as JsonSchema } from "./contract.ts"
import { camel, docComment } from "./text.ts"
import { renderFields } from "./types.ts"

/** Renders `errors.ts`: one class per error code of the contract, with the fields of its detail. */
export const renderErrors = ({ errors, schemas }: Contract): string => {
  const details = new Map(errors.map((error) => [error, detailOf(error)]))
  const references = JSON.stringify([...details.values()])
  const named = Object.keys(schemas).filter((name) => references.includes(`/${name}"`))
  const imported = references.includes(`"date-time"`) ? [...named, "Timestamp"] : named
  const entries = errors.map((error) => `${error.code}: ${className(error)}`)
  return [
    `import { ${["ApiError", ...Object.values(bases), serverError].toSorted().join(", ")} } from "../errors.ts"`,
    `import type { ${imported.join(", ")} } from "./shared.ts"`,
    ...[...details].map(([error, detail]) => renderError(error, detail)),
    docComment("The class for each error code.") +
      `export const errorClasses = {\n${entries.join(",\n")}\n} as const`,
    docComment("Every code that this version of the contract knows.") +
      `export type ErrorCode = keyof typeof errorClasses`
  ].join("\n\n")
}

const renderError = (error: ErrorClass, detail: JsonSchema): string => {
  const name = className(error)
  const where = { owner: name, brands: new Map<string, string>(), isInput: false }
  const getters = Object.keys(isSchema(detail.properties) ? detail.properties : {})
    // The base class has these fields.
    .filter((field) => !["error", "message", "request_id"].includes(field))
    .map(
      (field) =>
        `get ${camel(field)}(): ${name}Detail["${field}"] {\nreturn this.detail.${field}\n}`
    )
  return [
    `export interface ${name}Detail {\n${renderFields(detail, where)}\n}`,
    docComment(`${error.status} \`${error.code}\`${explained(error)}`) +
      `export class ${name} extends ${baseOf(error)} {\n` +
      [
        `override readonly name: string = "${name}"\n` +
          `declare readonly code: "${error.code}"\n` +
          `declare readonly detail: ${name}Detail`,
        ...getters
      ].join("\n\n") +
      `\n}`
  ].join("\n\n")
}

/** Hand-written base classes for statuses that several codes share. */
const bases: Readonly<Record<number, string>> = {
  400: "BadRequestError",
  401: "AuthenticationError",
  403: "PermissionError",
  409: "ConflictError"
}

const serverError = "ServerError"

const baseOf = ({ status }: ErrorClass) =>
  status >= 500 ? serverError : (bases[status] ?? "ApiError")

/**
 * `InternalError` already ends in "Error". `ValidationFailed` becomes `ValidationError`, which
 * reads better; `ConflictError` is the class of the status.
 */
const className = ({ identifier }: ErrorClass) =>
  renamed[identifier] ?? identifier.replace(/(?:Error|Failed)?$/, "Error")

const renamed: Readonly<Record<string, string>> = {
  Conflict: "ResourceConflictError",
  RateLimited: "RateLimitError"
}

/** If the message depends on the fields, the description is just the code. */
const explained = (error: ErrorClass): string => {
  const description = Schema.isSchema(error) ? SchemaAST.resolve(error.ast)?.description : undefined
  return description === undefined || description === error.code ? "" : `: ${description}`
}

const detailOf = (error: ErrorClass): JsonSchema => {
  const fields: unknown = Reflect.get(error, "fields")
  const detail: unknown = isSchema(fields) ? fields.detail : undefined
  if (!Schema.isSchema(detail)) throw new Error(`${error.code} has no detail`)
  return mapSchema(
    withUnknownFields(simplified(Schema.toJsonSchemaDocument(detail).schema)),
    (part) => (typeof part.$ref === "string" ? reference(part.$ref.split("/").at(-1) ?? "") : part)
  )
}
