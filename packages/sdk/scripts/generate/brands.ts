import { Schema, SchemaAST } from "effect"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { bodySchemas } from "@scheduling/openapi/contract/endpoints"

/**
 * Maps fields and parameters to the kind of id that they contain: `CronTask.id` → `CronTaskId`,
 * `cron.get.task_id` → `CronTaskId`. A brand is a property of the schema and not of its AST, so the
 * OpenAPI document does not contain it, and the schemas themselves are traversed.
 */
export const brandsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyMap<string, string> => {
  const brands = new Map<string, string>()
  const seen = new Set<Schema.Top>()

  const visit = (schema: Schema.Top, owner: string): void => {
    if (seen.has(schema)) return
    seen.add(schema)
    const name = SchemaAST.resolveIdentifier(schema.ast) ?? owner
    for (const [field, one] of fieldsOf(schema)) {
      const brand = partsOf(one)
        .map(brandOf)
        .find((found) => found !== undefined)
      if (brand !== undefined) brands.set(`${name}.${field}`, brand)
      visit(one, name)
    }
    for (const part of wrappedBy(schema)) visit(part, name)
  }

  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      for (const schema of [endpoint.params, endpoint.query]) {
        if (schema !== undefined) visit(schema, `${group.identifier}.${endpoint.identifier}`)
      }
    }
  })
  for (const schema of bodySchemas(api)) if (Schema.isSchema(schema)) visit(schema, "")
  return withoutValues(brands)
}

/**
 * Keeps only ids of one kind of record. A schedule, or the id of any task, stays a plain string.
 */
const withoutValues = (brands: ReadonlyMap<string, string>): ReadonlyMap<string, string> => {
  const ofRecords = new Set([...brands].flatMap(([field, brand]) => (isOwnId(field) ? brand : [])))
  ofRecords.delete(anyTask)
  return new Map([...brands].filter(([, brand]) => ofRecords.has(brand)))
}

/** The id of a cron task, a delayed task or a chain. Methods accept the id of one specific kind. */
const anyTask = "TaskId"

const isOwnId = (field: string) => field.endsWith(".id")

const brandOf = (schema: Schema.Top): string | undefined =>
  SchemaAST.isString(schema.ast) && "identifier" in schema && typeof schema.identifier === "string"
    ? schema.identifier
    : undefined

const fieldsOf = (schema: Schema.Top): ReadonlyArray<readonly [string, Schema.Top]> => {
  const fields = "fields" in schema ? Object.entries(schema.fields ?? {}) : []
  return fields.flatMap(([name, field]) => (Schema.isSchema(field) ? [[name, field]] : []))
}

/**
 * Returns the schemas inside a schema: the members of a union, the items of an array, the schema
 * under a brand or `optionalKey`.
 */
const wrappedBy = (schema: Schema.Top): ReadonlyArray<Schema.Top> =>
  (["schema", "members", "value", "from", "to"] as const).flatMap((key) => {
    const inner: unknown = Reflect.get(schema, key)
    return [inner].flat().filter((one) => Schema.isSchema(one))
  })

const partsOf = (schema: Schema.Top): ReadonlyArray<Schema.Top> => [
  schema,
  ...wrappedBy(schema).flatMap(partsOf)
]
