import type { OpenApiDocument } from "../../src/model.ts"
import { isSchema, referenced } from "../../src/schemas/rewriting.ts"
import { itemOfPage } from "./endpoints.ts"
import { fieldTable, type Schema, type Schemas, typeOf } from "./text.ts"

/**
 * Renders the remaining schemas. Bodies are shown with their endpoints, and errors in their table.
 */
export const renderRecords = ({ components, paths }: OpenApiDocument): string => {
  const bodies = new Set(
    Object.values(paths)
      .flatMap((operations) => Object.values(operations))
      .map(({ requestBody }) => referenced(requestBody?.content["application/json"]?.schema ?? {}))
  )
  const isShown = (name: string) => !bodies.has(name) || bodies.has(`${name.slice(0, -5)}Batch`)
  const records = Object.entries(components.schemas).filter(
    ([name, schema]) => isShown(name) && !isError(schema) && itemOfPage(schema) === undefined
  )
  const sections = records.map(([name, schema]) => renderRecord(name, schema, components.schemas))
  return ["## Records", ...sections].join("\n\n")
}

const isError = ({ properties }: Schema): boolean =>
  isSchema(properties) && isSchema(properties.detail) && Object.keys(properties).length === 1

const renderRecord = (name: string, schema: Schema, schemas: Schemas): string =>
  [
    `### ${name}`,
    ...(typeof schema.description === "string" ? [schema.description] : []),
    ...contentOf(schema, schemas, name.endsWith("Input"))
  ].join("\n\n")

const contentOf = (schema: Schema, schemas: Schemas, isSent: boolean): ReadonlyArray<string> => {
  if (Array.isArray(schema.enum)) return [`One of ${typeOf(schema)}.`]
  if (Array.isArray(schema.anyOf)) {
    const [first = [], ...others] = schema.anyOf
      .filter(isSchema)
      .map((one) => contentOf(one, schemas, isSent))
    return [...first, ...others.flatMap((other) => ["or", ...other])]
  }
  return [fieldTable(schema, schemas, isSent)]
}
