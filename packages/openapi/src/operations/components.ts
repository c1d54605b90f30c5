import type { JsonSchema } from "effect"
import type { OpenApi } from "effect/http-api"
import type { Endpoint, ErrorClass } from "../contract/endpoints.ts"
import { exampleOf, withExamplesFromUses } from "../schemas/examples.ts"
import type { Response } from "../model.ts"
import { errorComponentName, errorExample, sharedResponses } from "../responses/declaredErrors.ts"
import {
  mapSchema,
  withUnknownFields,
  simplified,
  reference,
  referencedName
} from "../schemas/rewriting.ts"
import { withDiscriminators, withNamedChoices } from "../schemas/unions.ts"
import { descriptionAndExamples, type namedSchemas } from "../contract/syntax.ts"

type Schema = JsonSchema.JsonSchema
type Schemas = Readonly<Record<string, Schema>>

export interface Components {
  /** The schemas, by their final names, each with an example. */
  readonly schemas: Schemas
  /** The error responses of the endpoints. */
  readonly responses: Readonly<Record<string, Response>>
  /** Rewrites a schema of Effect's document to the final names and forms. */
  readonly rewrite: (schema: Schema) => Schema
}

export const componentsOf = (
  spec: OpenApi.OpenAPISpec,
  endpoints: ReadonlyArray<Endpoint>,
  named: ReturnType<typeof namedSchemas>
): Components => {
  const errors = allErrors(endpoints)
  const errorNames = new Map(
    errors.map((error) => [`${error.identifier}Encoded`, errorComponentName(error)])
  )
  /**
   * Effect names the wire form of a class `<identifier>Encoded`, but clients know only the wire
   * form.
   */
  const rename = (name: string) => errorNames.get(name) ?? name.replace(/Encoded$/, "")
  const rewrite = (schema: Schema) =>
    mapSchema(simplified(schema), (part) => {
      const name = referencedName(part)
      return name === undefined ? part : { ...part, ...reference(rename(name)) }
    })

  const closed = reachable(requestBodies(spec), { schemas: spec.components.schemas })
  const bare: Record<string, Schema> = {}
  for (const [name, schema] of Object.entries(spec.components.schemas)) {
    const source = named.get(name)
    bare[rename(name)] = {
      ...(source !== undefined && descriptionAndExamples(source)),
      ...rewrite(closed.has(`schemas/${name}`) ? schema : withUnknownFields(schema))
    }
  }

  const schemas: Record<string, Schema> = {}
  const shown = withExamplesFromUses(withDiscriminators(withNamedChoices(bare)))
  for (const [name, schema] of Object.entries(shown)) {
    schemas[name] = { ...schema, examples: [exampleOf(schema, shown)] }
  }
  for (const error of errors) {
    const name = errorComponentName(error)
    schemas[name] = { ...bare[name], examples: [errorExample(error, bare)] }
  }
  return { schemas, responses: sharedResponses(endpoints, bare), rewrite }
}

const allErrors = (endpoints: ReadonlyArray<Endpoint>): ReadonlyArray<ErrorClass> => [
  ...new Set(
    endpoints.flatMap(({ middlewareErrors, ownErrors }) => [...ownErrors, ...middlewareErrors])
  )
]

const requestBodies = ({ paths }: OpenApi.OpenAPISpec): ReadonlyArray<unknown> =>
  Object.values(paths).flatMap(({ delete: remove, patch, post, put }) =>
    [remove, patch, post, put].map((operation) => operation?.requestBody)
  )

type Kinds = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/**
 * Returns the components that a part of the document refers to, directly or indirectly, as
 * `<kind>/<name>`.
 */
const reachable = (root: unknown, components: Kinds): ReadonlySet<string> => {
  const found = new Set<string>()
  const follow = (part: unknown): void => {
    for (const [, kind = "", name = ""] of JSON.stringify(part).matchAll(references)) {
      if (found.has(`${kind}/${name}`)) continue
      found.add(`${kind}/${name}`)
      follow(components[kind]?.[name] ?? null)
    }
  }
  follow(root)
  return found
}

const references = /"\$ref":"#\/components\/(\w+)\/([^"]+)"/g

/** Drops unused components and sorts the rest by name. */
export const tidyComponents = <A, B, C>(
  root: unknown,
  components: {
    readonly schemas: Readonly<Record<string, A>>
    readonly responses: Readonly<Record<string, B>>
    readonly headers: Readonly<Record<string, C>>
  }
) => {
  const found = reachable(root, components)
  const keep = <One>(kind: string, named: Readonly<Record<string, One>>): Record<string, One> =>
    Object.fromEntries(
      Object.entries(named)
        .filter(([name]) => found.has(`${kind}/${name}`))
        .toSorted(([left], [right]) => (left < right ? -1 : 1))
    )
  return {
    schemas: keep("schemas", components.schemas),
    responses: keep("responses", components.responses),
    headers: keep("headers", components.headers)
  }
}
