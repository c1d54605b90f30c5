import { Api } from "@scheduling/domain/Api"
import { endpointsOf } from "@scheduling/openapi/contract/endpoints"
import { readFile } from "node:fs/promises"
import { describe, expect, it } from "vitest"
import { asCommonJs, readBlocks, readDocExamples } from "../scripts/check-package/readme.ts"
import { describeLimits } from "../scripts/generate/limits.ts"

const sdk = new URL("..", import.meta.url).pathname

describe("the comments of the generated code", () => {
  it("have an example of each method", async () => {
    const { code } = await readDocExamples(sdk)
    for (const { name } of endpointsOf(Api)) expect(code).toContain(`client.${name}(`)
  })

  it.each([
    [{ type: "string", minLength: 1, maxLength: 200 }, "1 to 200 characters."],
    [{ type: "string", minLength: 0, maxLength: 2048 }, "At most 2,048 characters."],
    [{ type: "integer", minimum: 0, maximum: 10 }, "0 to 10."],
    [{ type: "integer", minimum: 1 }, "At least 1."],
    [{ type: "array", minItems: 1, maxItems: 50 }, "1 to 50 items."],
    [{ type: "object", maxProperties: 50 }, "At most 50 entries."],
    [{ anyOf: [{ type: "string", maxLength: 5 }, { type: "null" }] }, "At most 5 characters."],
    [{ type: "integer", minimum: 1, maximum: 100, default: 20 }, "1 to 100. 20 when absent."],
    [{ type: "integer", maximum: 9, default: 2, description: "2 when absent." }, "At most 9."],
    [{ type: "string", maxLength: 262144, description: "At most 256 KiB." }, undefined],
    [{ type: "string" }, undefined]
  ])("describe %j as: %s", (schema, limits) => {
    expect(describeLimits(schema)).toBe(limits)
  })

  it("have limits for the inputs of methods, not for their results", async () => {
    const types = await readFile(`${sdk}src/generated/cron.ts`, "utf8")
    const nameOf = (owner: string) =>
      new RegExp(`interface ${owner} \\{.*?readonly name`, "s").exec(types)?.[0]
    expect(nameOf("CronTaskInput")).toContain("1 to 200 characters.")
    expect(nameOf("CronTask")).not.toContain("characters")
  })
})

describe("the README", () => {
  it("has programs, and recipes that name their file", async () => {
    const { programs, recipes } = await readBlocks(sdk)
    expect(programs.length).toBeGreaterThan(5)
    expect(recipes.map(({ name }) => name)).toEqual([
      "app/webhooks/route.ts",
      "express.ts",
      "fastify.ts",
      "hono.ts"
    ])
  })

  it("becomes CommonJS if it waits in a function", () => {
    const code = 'import { a } from "b"\nimport "c"\n\nawait a()\n'
    expect(asCommonJs({ name: "x.ts", code }).code).toMatch(
      /^import \{ a \} from "b"\nimport "c"\n\nvoid \(async \(\) => \{\s+await a\(\)\s+\}\)\(\)\n$/
    )
  })
})
