import { assert, describe, it } from "@effect/vitest"
import { Api } from "@scheduling/domain/Api"
import { Struct } from "effect"
import { openApiDocument } from "../src/OpenApiDocument.ts"
import { publishedDocument } from "../src/publishedDocument.ts"
import { isSchema } from "../src/schemas/rewriting.ts"

const published = publishedDocument(Api)
const whole = openApiDocument(Api)
const commonHeaders = ["x-request-id", "RateLimit", "RateLimit-Policy"]

/**
 * Returns a part of the document, replacing references to components that exist only in the
 * published document with those components.
 */
const resolved = (part: unknown): unknown => {
  if (Array.isArray(part)) return part.map(resolved)
  if (!isSchema(part)) return part
  const [, kind = "", name = ""] =
    /^#\/components\/(parameters|schemas)\/(.+)$/.exec(String(part.$ref)) ?? []
  if (kind === "parameters") return resolved(published.components.parameters[name])
  if (kind === "schemas" && whole.components.schemas[name] === undefined)
    return resolved(published.components.schemas[name])
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, resolved(value)]))
}

const isComposed = (schema: Readonly<Record<string, unknown>>) =>
  ["anyOf", "oneOf", "properties"].some((key) => Object.hasOwn(schema, key))

/** Returns a response without the headers that the document's introduction describes. */
const withoutCommonHeaders = (response: unknown): unknown => {
  if (!isSchema(response) || !isSchema(response.headers)) return response
  const { headers, ...rest } = response
  const own = Object.entries(headers).filter(([name]) => !commonHeaders.includes(name))
  return own.length === 0 ? rest : { ...rest, headers: Object.fromEntries(own) }
}

const operationsOf = (paths: Readonly<Record<string, object>>) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation] as const)
  )

describe("the published document", () => {
  it("says of each schema what the whole document says", () => {
    for (const [name, schema] of Object.entries(whole.components.schemas)) {
      const { examples, ...rest } = schema
      assert.deepStrictEqual(
        resolved(published.components.schemas[name]),
        isComposed(schema) || examples === undefined ? rest : schema,
        name
      )
    }
  })

  it("says of each operation what the whole document says, apart from its errors", () => {
    const operations = new Map(operationsOf(published.paths))
    for (const [at, operation] of operationsOf(whole.paths)) {
      const { security } = published
      const now = Struct.omit({ security, ...operations.get(at) }, ["responses"])
      const then = Struct.omit(operation, ["responses", "x-codeSamples"])
      assert.deepStrictEqual(resolved(now), then, at)
    }
  })

  it("has each response of an operation, or its errors in the default response", () => {
    const { responses } = published.components
    const common = JSON.stringify(responses["Error"]?.content?.["application/json"]?.schema)
    const operations = new Map(operationsOf(published.paths))
    let shared = 0
    for (const [at, operation] of operationsOf(whole.paths)) {
      const now = operations.get(at)?.responses
      for (const [status, response] of Object.entries(operation.responses)) {
        if (now[status] !== undefined) {
          assert.deepStrictEqual(now[status], withoutCommonHeaders(response), `${at} ${status}`)
          continue
        }
        shared++
        assert.deepStrictEqual(now.default, { $ref: "#/components/responses/Error" }, at)
        const name = String(Object(response).$ref).split("/").at(-1) ?? ""
        const { content } = whole.components.responses[name] ?? {}
        const schema = JSON.stringify(content?.["application/json"]?.schema)
        for (const [reference] of schema.matchAll(/\{"\$ref":"[^"]+"\}/g)) {
          assert.include(common, reference, `${at} ${status}`)
        }
      }
    }
    assert.isAbove(shared, 1000)
  })

  it("describes the headers that it omits in its introduction", () => {
    for (const name of commonHeaders.slice(0, 2)) assert.include(published.info.description, name)
  })

  it("has a parameter of several operations once", () => {
    const { parameters } = published.components
    assert.strictEqual(parameters["WorkspaceIdInPath"]?.name, "workspace_id")
    const text = JSON.stringify(published)
    for (const [name, parameter] of Object.entries(parameters)) {
      assert.isAbove(text.split(`"#/components/parameters/${name}"`).length, 2, name)
      assert.strictEqual(text.split(JSON.stringify(parameter)).length, 2, name)
    }
  })

  it("is little more than half as long as the document of the reference page", () => {
    const [short, long] = [published, whole].map((one) => JSON.stringify(one).length)
    assert.isBelow(short ?? 0, (long ?? 0) * 0.6)
    assert.isBelow(short ?? 0, 850_000)
  })
})
