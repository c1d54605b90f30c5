import { assert, describe, it } from "@effect/vitest"
import { Api } from "@scheduling/domain/Api"
import { openApiDocument } from "../src/OpenApiDocument.ts"
import { publishedDocument } from "../src/publishedDocument.ts"

const published = publishedDocument(Api)

/** With the parameters of the components where they are referred to. */
const resolved = (part: unknown): unknown => {
  if (Array.isArray(part)) return part.map(resolved)
  if (typeof part !== "object" || part === null) return part
  const [, name = ""] = /^#\/components\/parameters\/(.+)$/.exec(String(Object(part).$ref)) ?? []
  if (name !== "") return published.components.parameters[name]
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, resolved(value)]))
}

describe("the published document", () => {
  it("says of each operation what the whole document says", () => {
    assert.deepStrictEqual(resolved(published.paths), { ...openApiDocument(Api).paths })
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

  it("is not as long as it would be without components", () => {
    assert.isBelow(JSON.stringify(published).length, 1_200_000)
  })
})
