import { Schema, SchemaAST } from "effect"
import type { OpenApi } from "effect/http-api"
import type { Components } from "./components.ts"
import type { Endpoint } from "../contract/endpoints.ts"
import { knownHeader } from "../responses/headers.ts"
import type { Parameter } from "../model.ts"
import { referencedName } from "../schemas/rewriting.ts"

/**
 * Returns the types of the query parameters that are numbers or booleans. Query values are strings,
 * so Effect documents these parameters as strings with a pattern, but clients expect numbers and
 * booleans.
 */
const decodedTypes = (query: Schema.Top | undefined): ReadonlyMap<string, object> => {
  const decoded = query === undefined ? undefined : SchemaAST.toType(query.ast)
  const types = new Map<string, object>()
  if (decoded?._tag !== "Objects") return types
  for (const { name, type } of decoded.propertySignatures) {
    const item = SchemaAST.isArrays(type) ? type.rest[0] : type
    if (item !== undefined && (SchemaAST.isNumber(item) || SchemaAST.isBoolean(item))) {
      types.set(String(name), Schema.toJsonSchemaDocument(Schema.make(type)).schema)
    }
  }
  return types
}

export const describeParameters = (
  endpoint: Endpoint,
  parameters: ReadonlyArray<OpenApi.OpenAPISpecParameter>,
  { rewrite, schemas }: Pick<Components, "rewrite" | "schemas">
): ReadonlyArray<Parameter> => {
  const types = decodedTypes(endpoint.query)
  return parameters.map((parameter) => {
    const decoded = parameter.in === "query" ? types.get(parameter.name) : undefined
    const { description: own, ...schema } = rewrite({ ...(decoded ?? parameter.schema) })
    const header = parameter.in === "header" ? knownHeader(parameter.name) : undefined
    const component = schemas[referencedName(schema) ?? ""]
    const description = [own, component?.description, header?.description].find(
      (one) => typeof one === "string"
    )
    return {
      name: header?.name ?? parameter.name,
      in: parameter.in,
      required: parameter.required,
      ...(description !== undefined && { description }),
      schema
    }
  })
}
