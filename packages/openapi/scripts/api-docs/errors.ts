import { Schema } from "effect"
import * as AuthErrors from "@scheduling/domain/auth/AuthErrors"
import type { ErrorClass } from "../../src/contract/endpoints.ts"
import type { OpenApiDocument } from "../../src/model.ts"
import { isSchema, mapSchema, plain, reference } from "../../src/schemas/rewriting.ts"
import * as SharedErrors from "@scheduling/domain/shared/Errors"
import { code, fieldsOf, type Schema as JsonSchema, table, typeOf } from "./text.ts"

/** Renders every error code, including those that a request meets before it reaches an endpoint. */
export const renderErrors = (document: OpenApiDocument): string => {
  const messages = messagesOf(document)
  const exported: ReadonlyArray<unknown> = [SharedErrors, AuthErrors].flatMap(Object.values)
  const errors = exported
    .filter(isErrorClass)
    .toSorted((a, b) => a.status - b.status || (a.code < b.code ? -1 : 1))
  const rows = errors.map((error) => [
    String(error.status),
    code(error.code),
    messages.get(error.code) ?? plainMessage(error),
    fieldsOf(detailOf(error))
      .filter(([name]) => name !== "error" && name !== "message")
      .map(([name, schema]) => `${code(name)}: ${typeOf(schema)}`)
      .join(", ")
  ])
  return [
    "## Error codes",
    "If a `message` depends on the request, the table shows an example. The fields are beside `error` and `message` in `detail`.",
    table(["status", "code", "message", "fields"], rows)
  ].join("\n\n")
}

const isErrorClass = (value: unknown): value is ErrorClass =>
  typeof value === "function" && "code" in value && "status" in value

/** The messages in the document's examples. */
const messagesOf = ({ components }: OpenApiDocument): ReadonlyMap<unknown, string> => {
  const examples = Object.values(components.schemas).flatMap(({ examples: all }) =>
    Array.isArray(all) && isSchema(all[0]) && isSchema(all[0].detail) ? [all[0].detail] : []
  )
  return new Map(examples.map(({ error, message }) => [error, String(message)]))
}

/** The document does not contain these errors: the method is wrong, or the request is not HTTP. */
const plainMessage = (error: ErrorClass): string =>
  new error(error.code === "method_not_allowed" ? { allow: ["GET", "POST"] } : {}).detail.message

const detailOf = (error: ErrorClass): JsonSchema => {
  const fields: unknown = Reflect.get(error, "fields")
  const detail: unknown = isSchema(fields) ? fields.detail : undefined
  if (!Schema.isSchema(detail)) throw new Error(`${error.code} has no detail`)
  return mapSchema(plain(Schema.toJsonSchemaDocument(detail).schema), (part) =>
    typeof part.$ref === "string" ? reference(part.$ref.split("/").at(-1) ?? "") : part
  )
}
